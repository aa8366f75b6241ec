import type { FeedPage, PageSource } from '../../src/core/pages/source.ts';
import type { Link, LinkEnd } from '../../src/tail/ports.ts';
import type { PostFields, TailRow } from '../../src/tail/post-row.ts';

/** The page of a feed without posts. */
export const emptyPage: FeedPage = { rows: [], hasMore: false, nextBefore: null };

/** Pages of 20 posts at least. */
export const sourceOf = (
  page: PageSource['page'] = async () => emptyPage,
  max = 100,
): PageSource => ({
  page,
  sizes: { step: 20, max },
  stepCu: 200,
});

/** Ports of a run that costs nothing and whose pauses have no chance in them. */
export const still = { random: () => 0.5, spent: () => ({ cu: 0, atMost: 0 }) };

/** A writer that accepts everything, and the ids that it was given. */
export function collecting() {
  const ids: string[] = [];
  const write = (rows: readonly TailRow[]) => {
    ids.push(...rows.map(({ id }) => id));
    return true;
  };
  return { ids, writer: { write, flush: async () => true } };
}

/** A row whose record fails when it is read, because to parse it while printing would halve the throughput. */
export const unparsed = (id: string, at: number, raw: Buffer | null): TailRow => ({
  id,
  at,
  raw,
  get record(): PostFields {
    throw new Error('the record was parsed');
  },
});

/** A connection whose signs of life and end the test decides. It has no frames unless `more` has. */
export const linkTo = (
  state: { readonly signs: number; readonly end?: LinkEnd | undefined },
  more: Partial<Omit<Link, 'signs' | 'end'>> = {},
): Link => ({
  ...{ next: () => undefined, held: 0, send: () => {}, close: async () => true, ...more },
  get signs() {
    return state.signs;
  },
  get end() {
    return state.end;
  },
});
