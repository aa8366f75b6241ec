import { listOf, numberOf, recordsOf, type Sent, textOf } from '../known.ts';

/** A page of a feed, as far as it can be read. */
export interface SentPage {
  /** The records as they came. */
  readonly items: readonly Sent[];
  readonly hasMore: boolean;
  readonly nextBefore: string | null;
  /** Items that are not records at all. */
  readonly odd: number;
}

/** Reads a page of up to `size` items. Where it does not say whether there is more, its cursor or its size does. */
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

/** The id of an item, which is its cursor as well; undefined where it has none. */
export const idOfItem = ({ id }: Sent): string | undefined => textOf(id) || undefined;

/** A cursor is sent as it came, so that a number does as well. */
const cursorOf = (value: unknown): string | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : textOf(value) || null;

/** A time of an item, epoch ms; null where it has none that can be compared. */
export const timeOfItem = (item: Sent, field: string): number | null => numberOf(item[field]) ?? null;
