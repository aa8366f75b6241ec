import { listOf, numberOf, recordsOf, type Sent, textOf } from '../read-record.ts';

/** A page of a feed, as far as it is readable. */
export interface SentPage {
  /** The records as received. */
  readonly items: readonly Sent[];
  readonly hasMore: boolean;
  readonly nextBefore: string | null;
  /** Number of items that are not records. */
  readonly odd: number;
}

/**
 * Reads a page of up to `size` items. If it does not say whether more exist, its cursor or its size tells.
 */
export function readPage(page: Sent, size: number): SentPage {
  const items = recordsOf(page['items']);
  const all = listOf(page['items']).length;
  const { hasMore } = page;
  const nextBefore = cursorOf(page['nextBefore']);
  const isFull = page['nextBefore'] !== null && all >= size;
  return {
    items,
    hasMore: typeof hasMore === 'boolean' ? hasMore : nextBefore !== null || isFull,
    nextBefore,
    odd: all - items.length,
  };
}

/** The id of an item, which is also its cursor; undefined if the item has none. */
export const idOfItem = ({ id }: Sent): string | undefined => textOf(id) || undefined;

/** Numbers are accepted as cursors too. */
const cursorOf = (value: unknown): string | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : textOf(value) || null;

/** A time of an item, epoch ms; null if it has none that can be compared. */
export const timeOfItem = (item: Sent, field: string): number | null => numberOf(item[field]) ?? null;
