import type { Filters } from '../certificate.ts';
import type { FilePlace, Position } from '../position.ts';
import { certify } from './certify.ts';
import { savePosition } from './position-file.ts';

interface PositionPlan {
  /** Where the position is saved; undefined if no run can continue. */
  readonly path: string | undefined;
  /**
   * The file of posts that the positions certify. Its certificate is its position, unless that is
   * saved elsewhere.
   */
  readonly certified: { readonly out: string; readonly isElsewhere: boolean } | undefined;
  readonly filters: Filters;
}

/** The positions of a run, and the certificates of its files. */
export class Positions {
  /** The last position that was saved: of all rows that it covers, none is in a later file. */
  #last: Position | undefined;
  readonly #plan: PositionPlan;

  constructor(plan: PositionPlan, last: Position | undefined) {
    this.#plan = plan;
    this.#last = last;
  }

  /** Saves a position, and with it the certificate of the file. */
  save(taken: Position): void {
    const { path, certified, filters } = this.#plan;
    if (path === undefined) return;
    this.#last = { ...taken, filters };
    savePosition(path, this.#last);
    if (certified?.isElsewhere && taken.file) certify(certified.out, this.#last, taken.file);
  }

  /**
   * Writes the certificate of a file that was finished or renamed: what was saved last is true of
   * it.
   */
  certify(path: string, place: FilePlace): void {
    if (this.#last && this.#plan.certified) certify(path, this.#last, place);
  }
}
