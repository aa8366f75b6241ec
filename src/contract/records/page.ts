import { textOf } from '../../base/json-object.ts';
import { listOf, recordsOf, type Sent } from '../read-record.ts';

/** A page of a feed. Fields that cannot be read are replaced by defaults. */
export interface SentPage {
  readonly items: readonly Sent[];
  readonly hasMore: boolean;
  readonly nextBefore: string | null;
  /** Number of items that are not records. */
  readonly odd: number;
}

/**
 * Reads a page. If it does not state whether more items exist, they do if it has a cursor, or if it
 * has no cursor field and is full.
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

/** A cursor as text, because the service may send cursors as numbers. */
const cursorOf = (value: unknown): string | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : textOf(value) || null;
