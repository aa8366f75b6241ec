import type { Writer } from '../ports.ts';
import type { TailRow } from '../post-row.ts';

interface Publishing<P> {
  publish(posts: readonly P[]): Promise<unknown>;
}

/** Publishes rows to the stream of a feed, for as long as the term of a leader lasts. */
export class StreamWriter<P> implements Writer {
  readonly #term: Publishing<P>;
  readonly #postOf: (row: TailRow) => P;

  constructor(term: Publishing<P>, postOf: (row: TailRow) => P) {
    this.#term = term;
    this.#postOf = postOf;
  }

  async write(rows: readonly TailRow[]): Promise<boolean> {
    await this.#term.publish(rows.map(this.#postOf));
    return true;
  }

  /** The store has received what was published. */
  async flush(): Promise<boolean> {
    return true;
  }
}
