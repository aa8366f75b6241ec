import { entryMs, type FeedPoint, isBeginning, type StreamRow } from './entry.ts';

/** Covers all entries that a failover or power failure can remove. */
export const LOOK_BACK_MS = 5 * 60_000;
/**
 * So many posts stay known, however old they are: in a quiet feed, the last ones may be hours old.
 */
const LEAST_KNOWN = 20;

/** Ids of delivered posts, with the times of their entries. */
export type KnownEntries = readonly (readonly [id: string, entryMs: number])[];

interface DeliveredState {
  readonly entry: string;
  readonly last?: FeedPoint | null;
  readonly verified?: number | null;
  readonly known?: KnownEntries;
  readonly skippedUntil?: number | undefined;
}

/**
 * What a follower has delivered. Each post is delivered exactly once, although a new leader may
 * publish posts again, with new entries: posts are recognized by their ids, or if these are
 * forgotten, by their times.
 */
export class Delivered {
  #entry: string;
  #last: FeedPoint | null;
  #verified: number | null;
  readonly #ids: Map<string, number>;
  /** After a loss, posts before this time are repetitions, until one that is not was read. */
  #repeatedUntil = Number.NEGATIVE_INFINITY;
  #skippedUntil: number | undefined;

  constructor({ entry, last = null, verified = null, known = [], skippedUntil }: DeliveredState) {
    this.#entry = entry;
    this.#last = last;
    this.#verified = verified;
    this.#ids = new Map(known);
    this.#skippedUntil = skippedUntil;
  }

  /** The last entry that was read, or after which reading began; `0-0` before the first one. */
  get entry(): string {
    return this.#entry;
  }

  get last(): FeedPoint | null {
    return this.#last;
  }

  /** The post time up to which every post was read; null if it is not known. */
  get verified(): number | null {
    return this.#verified;
  }

  /** Until the end of the stream is reached, posts before this time count as delivered. */
  get skippedUntil(): number | undefined {
    return this.#skippedUntil;
  }

  get isEmpty(): boolean {
    return this.#entry === '0-0' && this.#ids.size === 0;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Whether exactly this entry was read. */
  hasEntry({ id, entry }: StreamRow): boolean {
    return this.#ids.get(id) === entryMs(entry);
  }

  /** Whether the post was delivered, perhaps with another entry. */
  isRepeated({ id, at }: StreamRow): boolean {
    return this.#ids.has(id) || (at !== null && at < this.#repeatedUntil);
  }

  /** Returns the rows that were not delivered yet, which count as delivered from now on. */
  take(rows: readonly StreamRow[]): StreamRow[] {
    const fresh = this.#fresh(rows);
    for (const row of rows) {
      // The beginning of a feed is known by the name that its first entry has for it.
      if (isBeginning(row)) this.#ids.set(row.prev, entryMs(row.entry));
      this.#ids.set(row.id, entryMs(row.entry));
    }
    const end = rows.at(-1);
    if (end) {
      this.#entry = end.entry;
      this.#last = { id: end.id, at: end.at };
      this.#verified = end.verified ?? this.#verified;
      this.#prune();
    }
    return fresh;
  }

  #fresh(rows: readonly StreamRow[]): StreamRow[] {
    const firstNew = rows.findIndex(({ at }) => at !== null && at >= this.#repeatedUntil);
    const repetitions = firstNew === -1 ? rows.length : firstNew;
    if (firstNew !== -1) this.#repeatedUntil = Number.NEGATIVE_INFINITY;
    const isSkipped = (at: number | null) =>
      at !== null && this.#skippedUntil !== undefined && at < this.#skippedUntil;
    return rows.filter(
      ({ id, at }, index) =>
        !this.#ids.has(id) && !isSkipped(at) && (index >= repetitions || at === null),
    );
  }

  /** The last entry still exists, so that no post is published again. */
  keepEntry(): void {
    this.#repeatedUntil = Number.NEGATIVE_INFINITY;
  }

  /** The last entry was lost: a new leader may publish the posts before it again. */
  loseEntry(): void {
    this.#repeatedUntil = this.#horizon(LOOK_BACK_MS);
  }

  /** The end of the stream was read: what comes from now on is new, whatever its time. */
  reachEnd(): void {
    this.#skippedUntil = undefined;
  }

  /** The posts that may be read again, for a later run. */
  recent(): KnownEntries {
    const horizon = this.#horizon(LOOK_BACK_MS);
    const least = this.#ids.size - LEAST_KNOWN;
    return [...this.#ids].filter(([, ms], at) => ms >= horizon || at >= least);
  }

  #prune(): void {
    const horizon = this.#horizon(2 * LOOK_BACK_MS);
    for (const [id, ms] of this.#ids) {
      if (ms >= horizon || this.#ids.size <= LEAST_KNOWN) break;
      this.#ids.delete(id);
    }
  }

  /**
   * The time from which on posts may be read again, or be missing: at least `leastMs` before the
   * last post, by the earlier one of its own time and that of its entry, because the clock of the
   * service or of the server may be wrong.
   */
  #horizon(leastMs: number): number {
    const readMs = entryMs(this.#entry);
    const lastMs = this.#last?.at ?? undefined;
    const behindMs = this.#verified === null ? 0 : (lastMs ?? readMs) - this.#verified;
    const deliveredMs = Math.min(readMs, lastMs ?? Number.POSITIVE_INFINITY);
    return deliveredMs - Math.max(leastMs, behindMs);
  }
}
