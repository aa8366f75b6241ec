import { PROOF } from '../../core/pages/proof.ts';
import { nthNewest } from '../post-row.ts';

/** A new run reads at most so many rows to find them. */
const START_ROWS = 400;

/**
 * Where a new run starts: after the third newest post of the feed, or before the oldest one of its
 * backfill.
 */
export class RunStart {
  /** The newest post time of the posts that are older than the backfill. */
  skippedTo: number | null = null;
  #rows = 0;
  #backfillFrom: number | null = null;
  readonly #times: number[] = [];
  readonly #backfill: number;

  constructor(backfill: number) {
    this.#backfill = backfill;
  }

  take(at: number | null): void {
    this.#rows++;
    if (at === null) return;
    this.#times.push(at);
    if (this.#rows <= this.#backfill) this.#backfillFrom = Math.min(this.#backfillFrom ?? at, at);
    else this.skippedTo = Math.max(this.skippedTo ?? at, at);
  }

  /** Whether no older row is needed. */
  get isFound(): boolean {
    const isComplete = this.#rows >= this.#backfill && this.#times.length >= PROOF;
    return isComplete || this.#rows >= Math.max(START_ROWS, this.#backfill);
  }

  /** Posts after this time are new; null if no post has a time. */
  get from(): number | null {
    if (this.#backfill === 0) return nthNewest(this.#times, PROOF - 1);
    return this.#backfillFrom === null ? null : this.#backfillFrom - 1;
  }
}
