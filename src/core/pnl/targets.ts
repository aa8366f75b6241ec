import { Failure } from '../../base/failure.ts';
import { normalHandle } from '../../contract/handles.ts';
import { known } from '../../contract/read-record.ts';
import { User } from '../../contract/records/user.ts';
import type { CachedLookup } from '../lookup/cached-lookup.ts';
import { failedRecord, type LookupAnswer, missingRecord, readingOf } from '../lookup/lookup.ts';
import { ordered } from '../lookup/ordered.ts';
import type { Subject } from '../lookup/subject.ts';
import type { PlannedEndpoint } from '../spend/plan.ts';
import type { NumbersResult } from './request-batch.ts';

/**
 * The subjects of a run, and the handles that their numbers are requested with. Each subject is an
 * object of its own: answers are matched with that object, because two subjects may have the same
 * handle, and a handle may be unknown.
 */
export class Targets {
  readonly subjects: readonly Subject[];
  /**
   * Whether wallets or user ids are among them. Only then can two subjects have the same handle.
   */
  readonly hasOthers: boolean;
  readonly #users: Pick<CachedLookup, 'plan' | 'answer'>;
  readonly #answers = new Map<Subject, LookupAnswer>();

  constructor(subjects: readonly Subject[], users: Pick<CachedLookup, 'plan' | 'answer'>) {
    this.subjects = subjects;
    this.hasOthers = subjects.some(({ type }) => type !== 'handle');
    this.#users = users;
  }

  /**
   * The handle of a subject. That of a wallet or user id is undefined until it is looked up, or if
   * there is none.
   */
  handleOf(subject: Subject): string | undefined {
    if (subject.type === 'handle') return subject.value;
    const answer = this.#answers.get(subject);
    return answer?.found ? known(User, answer.record).handle || undefined : undefined;
  }

  /**
   * The calls for handles that are not known. Users of the cache need no call: their handles are
   * known from then on.
   */
  async lookups(subjects: readonly Subject[]): Promise<readonly PlannedEndpoint[]> {
    const calls: PlannedEndpoint[] = [];
    for (const subject of this.#withoutHandle(subjects)) {
      if (this.#answers.has(subject)) continue;
      const plan = this.#users.plan(subject);
      if (plan.answer) this.#answers.set(subject, plan.answer);
      else calls.push(...plan.calls);
    }
    return calls;
  }

  /** Looks up the handles that are not known. Returns a result for each subject that has none. */
  async resolve(
    subjects: readonly Subject[],
    signal?: AbortSignal,
  ): Promise<readonly NumbersResult[]> {
    const results: NumbersResult[] = [];
    const ask = async (subject: Subject, stop: AbortSignal) => {
      const answer = this.#answers.get(subject) ?? (await this.#users.answer(subject, stop));
      this.#answers.set(subject, answer);
      return { subject, answer };
    };
    const open = this.#withoutHandle(subjects);
    for await (const { subject, answer } of ordered(open, ask, { signal })) {
      const result = this.#withoutNumbers(subject, answer);
      if (result) results.push(result);
    }
    return results;
  }

  #withoutHandle(subjects: readonly Subject[]): readonly Subject[] {
    if (!this.hasOthers) return [];
    return subjects.filter((subject) => this.handleOf(subject) === undefined);
  }

  /** Undefined if the numbers of the subject can be requested. */
  #withoutNumbers(subject: Subject, answer: LookupAnswer): NumbersResult | undefined {
    const { text } = subject;
    if (answer.found === false)
      return { subject, record: missingRecord(text, answer.code, readingOf(answer)) };
    if (answer.found === null)
      return { subject, record: failedRecord(text, answer.failure), failure: answer.failure };
    if (this.handleOf(subject) !== undefined) return undefined;
    const failure = handleless(text);
    return { subject, record: failedRecord(text, failure), failure };
  }
}

/**
 * Subjects whose numbers are requested once: the first of each handle, with the others of the same
 * handle.
 */
export interface SharedHandles {
  readonly first: readonly Subject[];
  readonly others: ReadonlyMap<Subject, readonly Subject[]>;
}

/** Groups subjects by their handles, so that no handle is paid for twice. */
export function shareHandles(
  subjects: readonly Subject[],
  targets: Pick<Targets, 'hasOthers' | 'handleOf'>,
): SharedHandles {
  const others = new Map<Subject, Subject[]>();
  if (!targets.hasOthers) return { first: subjects, others };
  const byHandle = new Map<string, Subject>();
  const first = subjects.filter((subject) => {
    const handle = normalHandle(targets.handleOf(subject) ?? '');
    const earlier = byHandle.get(handle);
    if (earlier === undefined) {
      byHandle.set(handle, subject);
      return true;
    }
    const sharing = others.get(earlier) ?? [];
    sharing.push(subject);
    others.set(earlier, sharing);
    return false;
  });
  return { first, others };
}

const handleless = (subject: string) =>
  new Failure('answer', `cannot request numbers: the user of ${subject} has no handle`, {
    code: 'BAD_ANSWER',
    hint: 'use "trdr whois" to see the user',
  });
