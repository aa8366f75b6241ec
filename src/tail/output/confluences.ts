import type { Confluence } from '../confluence.ts';
import type { ConfluenceStage } from '../ports.ts';
import type { TailRow } from '../post-row.ts';

/** A stage of an output that passes on only the confluences that posts make. */
export class Confluences implements ConfluenceStage {
  readonly #confluence: Confluence;
  /** How many records may still be passed on. */
  #left: number;

  constructor(confluence: Confluence, count = Number.POSITIVE_INFINITY) {
    this.#confluence = confluence;
    this.#left = count;
  }

  /** The records that these posts make, in the order of the posts. */
  pass(posts: readonly TailRow[]): readonly TailRow[] {
    const records: TailRow[] = [];
    for (const post of posts) {
      const record = this.#confluence.add(post);
      if (!record || this.#left === 0) continue;
      this.#left--;
      records.push(record);
    }
    return records;
  }

  /** Whether as many records as were asked for have been passed on. */
  isFull(): boolean {
    return this.#left === 0;
  }

  /** What a later run needs to continue. */
  state(): string {
    return this.#confluence.state;
  }
}
