import type { Sent } from '../../contract/read-record.ts';
import { sortBy } from '../../core/pages/sort.ts';
import type { Terminal } from '../run/terminal.ts';

/** The order in which rows are printed, and how many are. */
export interface RowOrder {
  readonly sort: string | undefined;
  readonly reverse: boolean;
  readonly best: number | undefined;
}

/** So many rows are sorted at once, because each sort takes time. */
const SPARE_ROWS = 1_000;

/** The rows below a card, unless --top states another number. */
const CARD_ROWS = 20;

/** The rows below a card; says how many there are. */
export function rowsBelowCard(
  { notice }: Pick<Terminal, 'notice'>,
  rows: readonly Sent[],
  { sort, reverse, best = CARD_ROWS }: RowOrder,
  noun: string,
): readonly Sent[] {
  if (rows.length > best) notice(`showing ${best} of ${rows.length} ${noun}; --top N shows more`);
  return inOrder(rows, { sort, reverse, best });
}

function inOrder(rows: readonly Sent[], { sort, reverse, best }: RowOrder): readonly Sent[] {
  const unsorted = reverse ? rows.toReversed() : rows;
  return (sort === undefined ? unsorted : sortBy(rows, sort, reverse)).slice(0, best);
}

/**
 * The rows in the order of the flags. If they fail halfway, those so far come first: they were paid
 * for. `continued` adds to the failure how to continue.
 */
export async function* inOrderOf(
  order: RowOrder,
  rows: Iterable<Sent> | AsyncIterable<Sent>,
  continued: (error: unknown) => unknown = (error) => error,
): AsyncGenerator<Sent, void, void> {
  const { sort, reverse, best } = order;
  let all: Sent[] = [];
  let failure: unknown;
  try {
    if (sort === undefined && !reverse && best === undefined) yield* rows;
    else
      for await (const row of rows) {
        all.push(row);
        // Of a large range, only the best rows are kept.
        if (sort !== undefined && best !== undefined && all.length >= 2 * best + SPARE_ROWS)
          all = [...inOrder(all, order)];
      }
  } catch (error) {
    failure = continued(error);
  }
  yield* withFailure(inOrder(all, order), failure);
}

/** What was paid for comes before the failure that ended the reading. */
export async function* withFailure<T>(
  rows: Iterable<T> | AsyncIterable<T>,
  failure: unknown,
): AsyncGenerator<T, void, void> {
  yield* rows;
  if (failure !== undefined) throw failure;
}

/** The rows up to a failure, and the failure. */
export async function rowsUntilFailure<T>(
  rows: AsyncIterable<T>,
): Promise<{ readonly rows: readonly T[]; readonly failure?: unknown }> {
  const read: T[] = [];
  try {
    for await (const row of rows) read.push(row);
  } catch (failure) {
    return { rows: read, failure };
  }
  return { rows: read };
}
