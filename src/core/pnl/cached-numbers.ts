import { textOf } from '../../base/json-object.ts';
import { normalHandle } from '../../contract/handles.ts';
import type {
  AnswerCache,
  CachedAnswer,
  Claim,
  SharedAnswer,
} from '../../contract/ports/answers.ts';
import { listOf, recognize, recordsOf, type Sent } from '../../contract/read-record.ts';
import type { Provenance } from '../../contract/records/provenance.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import { MISS_AGE_MS } from '../lookup/cached-lookup.ts';
import { foundRecord, missingRecord } from '../lookup/lookup.ts';

/** Without --max-age. Shorter than that of users, because numbers change with every trade. */
export const NUMBERS_AGE_MS = 600_000;

/** As `Claim`, with the cached numbers as a record. */
export type NumbersClaim =
  | { readonly by: 'cache'; readonly record: PnlRecord }
  | Exclude<Claim, { readonly by: 'cache' }>;

export type SavedNumbers = ReturnType<typeof createSavedNumbers>;

export function createSavedNumbers(
  cache: AnswerCache,
  now: () => number,
  maxAgeMs = NUMBERS_AGE_MS,
) {
  // Relative to the start of the run, so that answers do not expire between the estimate and their
  // use.
  const began = now();
  const missAgeMs = Math.min(MISS_AGE_MS, maxAgeMs);
  const put = (handle: string, record: Sent | null, time: number) =>
    cache.put('user.pnl', handle, { time, status: record === null ? 404 : 200, record });

  function isFresh({ time, status }: CachedAnswer): boolean {
    return Math.max(0, began - time) < (status === 200 ? maxAgeMs : missAgeMs);
  }

  function recordOf(handle: string, { status, time, record }: SharedAnswer): PnlRecord | undefined {
    const reading: Provenance = { readAt: time, via: 'cache' };
    if (status === 404) return missingRecord(handle, undefined, reading);
    const numbers = recognize('numbers', record)?.record;
    return numbers && foundRecord(handle, numbers, reading);
  }

  const { claim } = cache;
  return {
    /** Absent if machines do not share answers. */
    ...(claim && {
      async claim(handle: string, waitMs?: number, signal?: AbortSignal): Promise<NumbersClaim> {
        const subject = normalHandle(handle);
        const made = await claim(
          { endpoint: 'user.pnl', subject, maxAgeMs, missAgeMs, waitMs },
          signal,
        );
        if (made.by !== 'cache') return made;
        const record = recordOf(handle, made.answer);
        return record ? { by: 'cache', record } : { by: 'us', end: async () => {} };
      },
    }),
    async find(handle: string, subject = handle): Promise<PnlRecord | undefined> {
      const saved = cache.get('user.pnl', normalHandle(handle));
      return saved && isFresh(saved) ? recordOf(subject, saved) : undefined;
    },
    async saveOne(subject: string, numbers: Sent, time: number): Promise<void> {
      const own = textOf(numbers['handle']) || subject;
      for (const handle of new Set([subject, own].map(normalHandle)))
        await put(handle, numbers, time);
    },
    saveMiss: async (subject: string, time: number) => put(normalHandle(subject), null, time),
    /** Under the handle of each entry, and a "not found" for each missing handle. */
    async saveBatch(subjects: readonly string[], batch: Sent, time: number): Promise<void> {
      const asked = new Set(subjects.map(normalHandle));
      const found = entriesByHandle(batch);
      const missing = missingHandles(batch).filter(
        (handle) => asked.has(handle) && !found.has(handle),
      );
      await Promise.all([
        ...[...found].map(([handle, entry]) => put(handle, entry, time)),
        ...missing.map((handle) => put(handle, null, time)),
      ]);
    },
  };
}

/** The first entry of each handle. */
export function entriesByHandle(batch: Sent): Map<string, Sent> {
  const found = new Map<string, Sent>();
  for (const entry of recordsOf(batch['entries'])) {
    const handle = normalHandle(textOf(entry['handle']) ?? '');
    if (handle !== '' && !found.has(handle)) found.set(handle, entry);
  }
  return found;
}

export const missingHandles = (batch: Sent): string[] =>
  listOf(batch['missing']).flatMap((name) => normalHandle(textOf(name) ?? '') || []);
