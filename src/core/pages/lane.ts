import type { PageRow } from './post.ts';
import { boundBelow } from './proof.ts';

export interface PlacedRow {
  readonly row: PageRow;
  /** The time by which the row is merged: its own may be missing or wrong. */
  readonly place: number;
}

/** One of several feeds that are merged by time: the rows that were read and not taken yet. */
export class Lane {
  /** No row that is not read yet is newer. */
  bound = Number.POSITIVE_INFINITY;
  #rows: readonly PlacedRow[] = [];

  get isEnded(): boolean {
    return this.bound === Number.NEGATIVE_INFINITY;
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0;
  }

  /** Adds rows of a page that has these times. */
  add(rows: readonly PlacedRow[], times: readonly (number | null)[]): void {
    this.#rows = raised([...this.#rows, ...rows]);
    this.bound = Math.min(this.bound, boundBelow(times) ?? this.bound);
  }

  /** Called when the feed has no further rows. */
  end(): void {
    this.bound = Number.NEGATIVE_INFINITY;
  }

  takeAfter(bound: number): readonly PlacedRow[] {
    const end = this.#rows.findIndex(({ place }) => place <= bound);
    const isAll = end === -1 || bound === Number.NEGATIVE_INFINITY;
    const taken = isAll ? this.#rows : this.#rows.slice(0, end);
    this.#rows = this.#rows.slice(taken.length);
    return taken;
  }
}

/** No row of the lanes that is not read yet is newer; minus infinity if all lanes have ended. */
export const boundOf = (lanes: readonly Lane[]): number =>
  Math.max(...lanes.map(({ bound }) => bound));

/** Takes the rows after this time out of the lanes, newest first. */
export const takeAfter = <L extends Lane>(
  lanes: readonly L[],
  bound: number,
): readonly { readonly row: PageRow; readonly lane: L }[] =>
  lanes
    .flatMap((lane) => lane.takeAfter(bound).map((taken) => ({ ...taken, lane })))
    .sort((one, other) => other.place - one.place);

/** A row whose time is missing, or older than that of rows below it, gets the place of those. */
export const placed = (rows: readonly PageRow[]): readonly PlacedRow[] =>
  raised(rows.map((row) => ({ row, place: row.at ?? Number.NEGATIVE_INFINITY })));

function raised(rows: readonly PlacedRow[]): readonly PlacedRow[] {
  let newest = Number.NEGATIVE_INFINITY;
  return rows
    .toReversed()
    .map(({ row, place }) => {
      newest = Math.max(newest, place);
      return { row, place: newest };
    })
    .reverse();
}
