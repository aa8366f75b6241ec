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
  const nextBefore = textOf(page['nextBefore']) || null;
  const isFull = page['nextBefore'] !== null && all >= size;
  return {
    items,
    hasMore: typeof hasMore === 'boolean' ? hasMore : nextBefore !== null || isFull,
    nextBefore,
    odd: all - items.length,
  };
}

/** The id of an item, which is its cursor as well; undefined where it has none that could be sent. */
export function idOfItem({ id }: Sent): string | undefined {
  if (typeof id === 'number' && Number.isSafeInteger(id)) return String(id);
  return textOf(id) || undefined;
}

/** A time of an item, epoch ms; null where it has none that can be compared. */
export const timeOfItem = (item: Sent, field: string): number | null => numberOf(item[field]) ?? null;
