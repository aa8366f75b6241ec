import { sortBy } from '../../core/pages/sort.ts';
import type { Terminal } from '../run/terminal.ts';

/** The rows below a card, unless --top states another number. */
const CARD_ROWS = 20;

interface RowOrder {
  readonly sort: string | undefined;
  readonly reverse: boolean;
  readonly top: number | undefined;
}

/** The rows below a card, in the order of the flags; says how many there are. */
export function cardRows<T extends Readonly<Record<string, unknown>>>(
  { notice }: Pick<Terminal, 'notice'>,
  rows: readonly T[],
  { sort, reverse, top = CARD_ROWS }: RowOrder,
  noun: string,
): readonly T[] {
  if (rows.length > top) notice(`showing ${top} of ${rows.length} ${noun}; --top N shows more`);
  const inOrder = reverse ? rows.toReversed() : rows;
  return (sort === undefined ? inOrder : sortBy(rows, sort, reverse)).slice(0, top);
}
