import { createRecentSet } from '../base/recent-set.ts';
import type { Coverage, Unread } from './certificate.ts';
import { nthNewest, type PostMark } from './post-row.ts';
import { timing } from './timing.ts';

/** Ids that no post time allows to forget: of posts without a time, and of late posts. */
const COUNTED_MAX = 10_000;
/** Ids of verified posts, with which a repeated frame is recognized. */
const RECENT_MAX = 20_000;
/**
 * Frames wait for the next walk while so many ids are known: those of seven minutes at 500 posts a
 * second.
 */
const IDS_MAX = 200_000;
/** Forgetting reads all ids, so a small step forward forgets nothing yet. */
const STEP_MS = 5_000;

interface KnownOptions {
  /** Up to which post time an earlier run has delivered every post. */
  readonly deliveredTo?: number | null;
  readonly latenessMs?: number;
}

/**
 * What a tail knows of its feed: up to where it is verified, and which newer posts were delivered.
 */
export class KnownPosts {
  /**
   * Posts that are not newer were there before the run began. Null if no post had a time: then only
   * ids decide.
   */
  start: number | null;
  /** Up to this post time, every post was delivered. Null before the first verification. */
  verified: number | null;
  lowest: number | null;
  /** A lower bound of the service's clock, from post times alone. */
  sigma: number | null = null;
  /**
   * When the feed was last read completely, by the clock of this machine. It shows that a feed
   * without new posts is read.
   */
  readAt: number | null;
  /** Every post after this time is delivered once it is verified. */
  after: number | null;
  readonly #gaps: Unread[];
  #timed = new Map<string, number>();
  readonly #counted = new Map<string, number | null>();
  readonly #recent = createRecentSet(RECENT_MAX);
  #forgotten = Number.NEGATIVE_INFINITY;
  /**
   * Up to here, an earlier run delivered every post: a frame from before is a repetition, even if
   * its id is forgotten.
   */
  readonly #deliveredTo: number;

  readonly #latenessMs: number;

  constructor(
    from: Partial<KnownState> = {},
    { deliveredTo = null, latenessMs = timing.latenessMs }: KnownOptions = {},
  ) {
    this.#latenessMs = latenessMs;
    this.start = from.start ?? null;
    this.verified = from.verified ?? null;
    this.lowest = from.lowest ?? null;
    this.readAt = from.readAt ?? null;
    this.#deliveredTo = deliveredTo ?? Number.NEGATIVE_INFINITY;
    this.after = from.coverage ? from.coverage.after : this.verified;
    this.#gaps = [...(from.coverage?.gaps ?? [])];
    for (const [id, at] of from.ids ?? []) {
      if (at === null || this.#isOld(at)) this.#count(id, at);
      else this.#timed.set(id, at);
    }
  }

  /**
   * Whether a post needs no delivery any more: for rows of pages, the end of a walk, and frames
   * alike.
   */
  isDone({ id, at }: PostMark): boolean {
    return this.has(id) || (at !== null && this.#isOld(at));
  }

  /** Whether the post of a frame is too old to be found by a walk, but was not delivered before. */
  isLate({ id, at }: PostMark): boolean {
    if (at === null || at <= this.#deliveredTo || !this.#isOld(at)) return false;
    return !this.has(id) && !this.#recent.has(id);
  }

  has(id: string): boolean {
    return this.#timed.has(id) || (this.#counted.size > 0 && this.#counted.has(id));
  }

  add({ id, at }: PostMark): void {
    if (at === null) this.#count(id, at);
    else if (this.#isOld(at)) this.#recent.add(id);
    else {
      this.#timed.set(id, at);
      this.lowest = Math.min(this.lowest ?? at, at);
    }
  }

  addLate({ id, at }: PostMark): void {
    this.#count(id, at);
  }

  /**
   * A new run begins after this post time. Of what was there before, the newest post that it does
   * not print is from `skippedTo`.
   */
  begin(from: number | null, skippedTo: number | null): void {
    this.start = from;
    this.verified = from;
    this.after = Math.max(skippedTo ?? 0, from ?? 0) || null;
  }

  /**
   * Learns the clock of the feed from the newest page: from its third newest post, because a single
   * one may be dated wrongly.
   */
  hear(times: readonly (number | null)[]): void {
    const isFirst = this.start === null && this.verified === null;
    const sigma = nthNewest(times, isFirst ? 0 : 2);
    if (sigma !== null) this.sigma = Math.max(this.sigma ?? sigma, sigma);
  }

  /** The later of a clock and the clock of the feed. */
  latest(now: number): number {
    return Math.max(now, this.sigma ?? now);
  }

  /**
   * A walk was complete: posts that are old enough to be in pages were delivered, except those from
   * `left` on.
   */
  provenTo(left = Number.POSITIVE_INFINITY): void {
    if (this.sigma !== null) this.verify(Math.min(this.sigma - this.#latenessMs, left - 1));
  }

  /**
   * Gives up what no walk could read, above this post time. Returns the gap; undefined if nothing
   * is missing.
   */
  giveUp(
    oldest: number | null,
    why: string,
  ): { from: number | null; to: number | null } | undefined {
    const from = this.verified ?? this.start;
    this.provenTo();
    if (oldest !== null && from !== null && oldest <= from) return undefined;
    const to = oldest ?? this.verified;
    if (to !== null) this.addGap({ from, to, why });
    return { from, to: oldest };
  }

  /**
   * Whether the feed may end above this post time: no older post is known that pages should show by
   * now.
   */
  mayEndAt(oldest: number | null, isAnyKnown: boolean): boolean {
    const { lowest, sigma } = this;
    const isComplete = lowest === null || (oldest !== null && oldest <= lowest);
    const isYoung =
      lowest !== null && lowest > (sigma ?? Number.POSITIVE_INFINITY) - this.#latenessMs;
    if (this.verified !== null) return isComplete || isYoung;
    return isAnyKnown || isYoung || this.isEmpty;
  }

  /** Every post up to this time was delivered: their ids are not needed any more. */
  verify(to: number): void {
    if (this.verified !== null && to <= this.verified) return;
    this.verified = to;
    if (to - this.#forgotten < STEP_MS) return;
    this.#forgotten = to;
    for (const [id, at] of this.#timed) {
      if (at > to) continue;
      this.#timed.delete(id);
      this.#recent.add(id);
    }
  }

  /** Posts between these times, both included, may never be delivered. */
  addGap(gap: { readonly from: number | null; readonly to: number; readonly why: string }): void {
    const { from, to, why } = gap;
    if (from === null) this.after = Math.max(this.after ?? to, to);
    else this.#gaps.push({ from, to, why });
  }

  /** Whether no post of the feed was ever seen, by this run or those that it continues. */
  get isUnseen(): boolean {
    return this.isEmpty && this.lowest === null && this.sigma === null;
  }

  get isEmpty(): boolean {
    return this.#timed.size === 0 && this.#counted.size === 0;
  }

  get isFull(): boolean {
    return this.#timed.size >= IDS_MAX;
  }

  get state(): KnownState {
    const { start, verified, lowest, readAt } = this;
    const ids: (readonly [string, number | null])[] = [];
    for (const entry of this.#timed) if (verified === null || entry[1] > verified) ids.push(entry);
    ids.push(...this.#counted);
    const coverage = { after: this.after, gaps: [...this.#gaps] };
    return { start, verified, lowest, readAt, ids, coverage };
  }

  #isOld(at: number): boolean {
    return (
      (this.verified !== null && at <= this.verified) || (this.start !== null && at <= this.start)
    );
  }

  #count(id: string, at: number | null): void {
    this.#counted.set(id, at);
    if (this.#counted.size <= COUNTED_MAX) return;
    for (const first of this.#counted.keys()) {
      this.#counted.delete(first);
      return;
    }
  }
}

/** The part of a position that a tail continues from. */
export interface KnownState {
  readonly start: number | null;
  readonly verified: number | null;
  readonly lowest: number | null;
  readonly readAt?: number | null | undefined;
  readonly ids: readonly (readonly [id: string, at: number | null])[];
  /** Undefined if nothing before `verified` is vouched for. */
  readonly coverage?: Coverage | undefined;
}
