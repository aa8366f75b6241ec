import type { Sent } from '../../contract/read-record.ts';
import { readPage } from '../../contract/records/page.ts';
import { type PageRow, pageRow } from './post.ts';

/** A page of a feed. */
export interface FeedPage<Id extends string | null = string | null> {
  /** Newest first. */
  readonly rows: readonly PageRow<Id>[];
  readonly hasMore: boolean;
  readonly nextBefore: string | null;
}

export interface AskedPage {
  /** The posts older than this one; absent for the newest page. */
  readonly before?: string;
  readonly limit: number;
  /** How many rows the reader still needs, as far as it can tell. */
  readonly expected: number;
}

/** A source of the pages of a feed. Throws `Failure`s. */
export interface PageSource {
  page(ask: AskedPage, signal: AbortSignal): Promise<FeedPage>;
  /** The rows of the smallest page that is worth requesting, and of the largest page. */
  readonly sizes: { readonly step: number; readonly max: number };
  readonly stepCu: number;
  /** Whether the run can pay for a page of so many rows; by default, it can. */
  readonly affords?: ((rows: number) => boolean) | undefined;
}

/**
 * The page of a record whose posts have their times in this field; `size` is that of a full one.
 */
export function feedPage(record: Sent, size: number, timeField: string): FeedPage {
  const { items, hasMore, nextBefore } = readPage(record, size);
  return { rows: items.map((item) => pageRow(item, timeField)), hasMore, nextBefore };
}
