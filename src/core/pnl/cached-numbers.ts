import { textOf } from '../../base/json-object.ts';
import { missAgeOf } from '../../contract/answer-age.ts';
import { normalHandle } from '../../contract/handles.ts';
import type {
  AnswerCache,
  CachedAnswer,
  Claim,
  SharedAnswer,
} from '../../contract/ports/answers.ts';
import type { RowValue } from '../../contract/ports/rows.ts';
import { listOf, recordsOf, type Sent } from '../../contract/read-record.ts';
import { recognize } from '../../contract/record-types.ts';
import type { Provenance } from '../../contract/records/provenance.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import { foundRecord, missingRecord } from '../lookup/lookup.ts';

/** A claim whose cached numbers are a record already. */
export type NumbersClaim =
  | { readonly by: 'cache'; readonly record: PnlRecord }
  | Exclude<Claim, { readonly by: 'cache' }>;

/** What the rows of a run are called. */
interface NamedRows {
  handleOf(row: number): string | undefined;
  textOf(row: number): string;
}

/** The numbers that this machine has paid for, or that machines share. */
export class SavedNumbers {
  readonly #cache: AnswerCache;
  readonly #maxAgeMs: number;
  readonly #missAgeMs: number;
  /**
   * Ages count from the start of the run, so that answers do not expire between the estimate and
   * their use.
   */
  readonly #began: number;

  constructor(cache: AnswerCache, now: () => number, maxAgeMs: number) {
    this.#cache = cache;
    this.#maxAgeMs = maxAgeMs;
    this.#missAgeMs = missAgeOf(maxAgeMs);
    this.#began = now();
  }

  /**
   * Lets one machine request the numbers of a handle while the others wait for them. Where machines
   * share nothing, each handle is ours.
   */
  async claim(handle: string, waitMs?: number, signal?: AbortSignal): Promise<NumbersClaim> {
    const wanted = {
      endpoint: 'user.pnl',
      subject: normalHandle(handle),
      maxAgeMs: this.#maxAgeMs,
      missAgeMs: this.#missAgeMs,
      waitMs,
    } as const;
    const claim = await this.#cache.claim?.(wanted, signal);
    if (claim && claim.by !== 'cache') return claim;
    const record = claim && recordOf(handle, claim.answer);
    return record ? { by: 'cache', record } : { by: 'us', end: async () => {} };
  }

  /** The records of the rows whose numbers are saved and fresh. */
  find(rows: readonly number[], handles: NamedRows): readonly RowValue<PnlRecord>[] {
    const named = rows.flatMap((row) => {
      const handle = handles.handleOf(row);
      return handle === undefined ? [] : [{ row, handle: normalHandle(handle) }];
    });
    const answers = this.#cache.get(
      'user.pnl',
      named.map(({ handle }) => handle),
    );
    return named.flatMap(({ row }, at) => {
      const answer = answers[at];
      const isFresh = answer !== undefined && this.#isFresh(answer);
      const value = isFresh ? recordOf(handles.textOf(row), answer) : undefined;
      return value ? [{ row, value }] : [];
    });
  }

  /** Keeps the numbers under the handle that was asked for, and under their own. */
  async saveOne(subject: string, numbers: Sent, time: number): Promise<void> {
    const own = textOf(numbers['handle']) || subject;
    const handles = [subject, own].map(normalHandle);
    await this.#put(new Map(handles.map((handle) => [handle, numbers])), time);
  }

  async saveMiss(subject: string, time: number): Promise<void> {
    await this.#put(new Map([[normalHandle(subject), null]]), time);
  }

  /** Keeps a batch under the handle of each entry, and a "not found" for each missing handle. */
  async saveBatch(subjects: readonly string[], batch: Sent, time: number): Promise<void> {
    const asked = new Set(subjects.map(normalHandle));
    const entries = entriesByHandle(batch);
    const missing = missingHandles(batch).filter(
      (handle) => asked.has(handle) && !entries.has(handle),
    );
    const misses = missing.map((handle): [string, null] => [handle, null]);
    await this.#put(new Map<string, Sent | null>([...entries, ...misses]), time);
  }

  async #put(records: ReadonlyMap<string, Sent | null>, time: number): Promise<void> {
    const answers = [...records].map(([handle, record]): [string, CachedAnswer] => [
      handle,
      { time, status: record === null ? 404 : 200, record },
    ]);
    await this.#cache.put('user.pnl', new Map(answers));
  }

  #isFresh({ time, status }: CachedAnswer): boolean {
    const maxAgeMs = status === 200 ? this.#maxAgeMs : this.#missAgeMs;
    return Math.max(0, this.#began - time) < maxAgeMs;
  }
}

function recordOf(handle: string, { status, time, record }: SharedAnswer): PnlRecord | undefined {
  const reading: Provenance = { readAt: time, via: 'cache' };
  if (status === 404) return missingRecord(handle, undefined, reading);
  const numbers = recognize('numbers', record)?.record;
  return numbers && foundRecord(handle, numbers, reading);
}

/** The first entry of each handle. */
export function entriesByHandle(batch: Sent): Map<string, Sent> {
  const entries = new Map<string, Sent>();
  for (const entry of recordsOf(batch['entries'])) {
    const handle = normalHandle(textOf(entry['handle']) ?? '');
    if (handle !== '' && !entries.has(handle)) entries.set(handle, entry);
  }
  return entries;
}

export const missingHandles = (batch: Sent): string[] =>
  listOf(batch['missing']).flatMap((name) => normalHandle(textOf(name) ?? '') || []);
