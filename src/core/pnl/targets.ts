import { Failure } from '../../base/failure.ts';
import { known } from '../../contract/read-record.ts';
import { User } from '../../contract/records/user.ts';
import type { CachedLookup, LookupCall } from '../lookup/cached-lookup.ts';
import { failedRecord, type LookupAnswer, missingRecord, readingOf } from '../lookup/lookup.ts';
import { ordered } from '../lookup/ordered.ts';
import type { Subject } from '../lookup/subject.ts';
import type { PnlResult } from './request-batch.ts';

export type Targets = ReturnType<typeof createTargets>;

/** `others` contains wallets, ids and links to profiles by position; all other texts are handles. */
export function createTargets(
  texts: readonly string[],
  others: ReadonlyMap<number, Subject>,
  users: CachedLookup,
) {
  const answers = new Map<number, LookupAnswer>();

  const open = (positions: readonly number[]) =>
    others.size === 0
      ? []
      : positions.filter((position) => others.has(position) && !handleAt(position));

  /** The handle of a subject; for a wallet or id, undefined until it is looked up, or if no handle was found. */
  function handleAt(position: number): string | undefined {
    const other = others.get(position);
    if (other === undefined) return texts[position];
    if (other.type === 'handle') return other.value;
    const answer = answers.get(position);
    return answer?.found ? known(User, answer.record).handle || undefined : undefined;
  }

  function resultOf(position: number, answer: LookupAnswer): PnlResult | undefined {
    const subject = texts[position] ?? '';
    if (answer.found === false)
      return { position, record: missingRecord(subject, answer.code, readingOf(answer)) };
    if (answer.found && handleAt(position) !== undefined) return undefined;
    const failure = answer.found ? handleless(subject) : answer.failure;
    return { position, record: failedRecord(subject, failure), failure };
  }

  return {
    texts,
    /** Whether two subjects may have the same handle. */
    isMixed: others.size > 0,
    handleAt,
    /** Cached users need no call. */
    async lookups(positions: readonly number[]): Promise<LookupCall[]> {
      const calls: LookupCall[] = [];
      for (const position of open(positions)) {
        const subject = others.get(position);
        if (!subject || answers.has(position)) continue;
        const plan = users.plan(subject);
        calls.push(...plan.calls);
        if (plan.calls.length === 0)
          answers.set(position, await users.answer(subject, undefined, plan));
      }
      return calls;
    },
    async resolve(positions: readonly number[], signal?: AbortSignal): Promise<PnlResult[]> {
      const results: PnlResult[] = [];
      const ask = async (position: number, stop: AbortSignal) => {
        const subject = others.get(position);
        const answer = answers.get(position) ?? (subject && (await users.answer(subject, stop)));
        if (answer) answers.set(position, answer);
        return { position, answer };
      };
      for await (const { position, answer } of ordered(open(positions), ask, { signal })) {
        const result = answer && resultOf(position, answer);
        if (result) results.push(result);
      }
      return results;
    },
  };
}

const handleless = (subject: string) =>
  new Failure('answer', `cannot request numbers: the user of ${subject} has no handle`, {
    code: 'BAD_ANSWER',
    hint: 'use "trdr whois" to see the user',
  });
