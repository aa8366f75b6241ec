import { textOf } from '../../base/json-object.ts';
import { listOf, numberOf, recordsOf, type Sent } from '../read-record.ts';

/** Fields that cannot be read are replaced by defaults. */
export interface SentPage {
  readonly items: readonly Sent[];
  readonly hasMore: boolean;
  readonly nextBefore: string | null;
  /** Number of items that are not records. */
  readonly odd: number;
}

/** Without `hasMore`, more exist if the page has a cursor, or has no cursor field and is full. */
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

/** Also the cursor for older items; undefined if the item has no id. */
export const idOfItem = ({ id }: Sent): string | undefined => textOf(id) || undefined;

/** The service may send cursors as numbers. */
const cursorOf = (value: unknown): string | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : textOf(value) || null;

export const timeOfItem = (item: Sent, field: string): number | null =>
  numberOf(item[field]) ?? null;
