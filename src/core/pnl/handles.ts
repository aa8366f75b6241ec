import { addTo } from '../../base/add-to.ts';
import { Failure } from '../../base/failure.ts';
import type { RowStates } from '../../base/row-states.ts';
import { normalHandle } from '../../contract/handles.ts';
import { type Known, known } from '../../contract/read-record.ts';
import type { Pnl } from '../../contract/records/pnl.ts';
import { User } from '../../contract/records/user.ts';
import type { CachedLookup } from '../lookup/cached-lookup.ts';
import { failedRecord, type LookupAnswer, missingRecord, readingOf } from '../lookup/lookup.ts';
import { ordered } from '../lookup/ordered.ts';
import type { Subject } from '../lookup/subject.ts';
import type { PlannedEndpoint } from '../spend/plan.ts';
import type { NumbersResult } from './request-batch.ts';

/** The subjects of a run, each in its row, and their handles, which numbers are requested with. */
export class Handles {
  readonly subjects: readonly Subject[];
  /** Whether wallets or user ids are among them. Only then can two rows have the same handle. */
  readonly hasOthers: boolean;
  readonly #users: Pick<CachedLookup, 'plan' | 'answer'>;
  readonly #answers = new Map<number, LookupAnswer>();

  constructor(subjects: readonly Subject[], users: Pick<CachedLookup, 'plan' | 'answer'>) {
    this.subjects = subjects;
    this.hasOthers = subjects.some(({ type }) => type !== 'handle');
    this.#users = users;
  }

  /** The subject of a row as the user wrote it. */
  textOf(row: number): string {
    return this.#subjectOf(row).text;
  }

  /**
   * The handle of a row. That of a wallet or user id is undefined until it is looked up, or if
   * there is none.
   */
  handleOf(row: number): string | undefined {
    const { type, value } = this.#subjectOf(row);
    if (type === 'handle') return value;
    const answer = this.#answers.get(row);
    return answer?.found ? known(User, answer.record).handle || undefined : undefined;
  }

  /** The handle of a row, or what stands for it until it is known: the price is the same. */
  nameOf(row: number): string {
    return this.handleOf(row) ?? this.#subjectOf(row).value;
  }

  /**
   * Whether numbers that were read under the handle of a looked up row are of its user: a handle
   * may have passed to another one since.
   */
  isOf(row: number, { wallet, evmWallet }: Known<Pnl>): boolean {
    const answer = this.#answers.get(row);
    if (answer?.found !== true) return false;
    const { solanaAddress, evmAddress } = known(User, answer.record);
    return (
      isSame(wallet, solanaAddress) || isSame(evmWallet?.toLowerCase(), evmAddress?.toLowerCase())
    );
  }

  /**
   * The calls for handles that are not known. Users of the cache need no call: their handles are
   * known from then on.
   */
  async lookups(rows: readonly number[]): Promise<readonly PlannedEndpoint[]> {
    const calls: PlannedEndpoint[] = [];
    for (const row of this.#withoutHandle(rows)) {
      if (this.#answers.has(row)) continue;
      const plan = this.#users.plan(this.#subjectOf(row));
      if (plan.answer) this.#answers.set(row, plan.answer);
      else calls.push(...plan.calls);
    }
    return calls;
  }

  /** Looks up the handles that are not known. Returns a result for each row that has none. */
  async resolve(rows: readonly number[], signal?: AbortSignal): Promise<readonly NumbersResult[]> {
    const results: NumbersResult[] = [];
    const ask = async (row: number, stop: AbortSignal) => {
      const answer =
        this.#answers.get(row) ?? (await this.#users.answer(this.#subjectOf(row), stop));
      this.#answers.set(row, answer);
      return { row, answer };
    };
    for await (const { row, answer } of ordered(this.#withoutHandle(rows), ask, { signal })) {
      const result = this.#withoutNumbers(row, answer);
      if (result) results.push(result);
    }
    return results;
  }

  #subjectOf(row: number): Subject {
    const subject = this.subjects[row];
    if (subject === undefined) throw new RangeError(`no subject in row ${row}`);
    return subject;
  }

  #withoutHandle(rows: readonly number[]): readonly number[] {
    return this.hasOthers ? rows.filter((row) => this.handleOf(row) === undefined) : [];
  }

  /** Undefined if the numbers of the row can be requested. */
  #withoutNumbers(row: number, answer: LookupAnswer): NumbersResult | undefined {
    const text = this.textOf(row);
    if (answer.found === false)
      return { row, value: missingRecord(text, answer.code, readingOf(answer)) };
    if (answer.found === null) return failedResult(row, text, answer.failure);
    return this.handleOf(row) === undefined ? failedResult(row, text, handleless(text)) : undefined;
  }
}

const isSame = (one: string | null | undefined, other: string | null | undefined): boolean =>
  typeof one === 'string' && one !== '' && one === other;

export const failedResult = (row: number, text: string, failure: Failure): NumbersResult => ({
  row,
  value: failedRecord(text, failure),
  failure,
});

/**
 * Makes each open row wait whose handle an earlier one has, so that no handle is paid for twice.
 * Returns the waiting rows by the one that is requested.
 */
export function shareHandles(
  states: RowStates,
  handles: Pick<Handles, 'hasOthers' | 'nameOf'>,
): ReadonlyMap<number, readonly number[]> {
  const sharing = new Map<number, number[]>();
  if (!handles.hasOthers) return sharing;
  const byHandle = new Map<string, number>();
  for (const row of states.open()) {
    const handle = normalHandle(handles.nameOf(row));
    const earlier = byHandle.get(handle);
    if (earlier === undefined) {
      byHandle.set(handle, row);
      continue;
    }
    states.wait(row);
    addTo(sharing, earlier, row);
  }
  return sharing;
}

const handleless = (subject: string) =>
  new Failure('answer', `cannot request numbers: the user of ${subject} has no handle`, {
    code: 'BAD_ANSWER',
    hint: 'use "trdr whois" to see the user',
  });
