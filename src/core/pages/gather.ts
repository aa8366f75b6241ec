import type { PageRow } from './post.ts';
import type { PageSource } from './source.ts';
import { pagesInRange, type WalkOptions } from './walk.ts';

/** Posts of a feed that are read before any of them is printed, or what is kept of them. */
export interface GatheredPosts<P> {
  /** Newest first. */
  readonly posts: readonly P[];
  /** Whether these are all posts of the range: the walk has reached its end. */
  readonly complete: boolean;
  /** What ended the walk early. The posts up to there were paid for. */
  readonly failure?: { readonly error: unknown } | undefined;
}

export async function gatherPosts<P>(
  source: PageSource,
  options: WalkOptions,
  keep: (row: PageRow) => P,
): Promise<GatheredPosts<P>> {
  const { limit = Number.POSITIVE_INFINITY } = options;
  const posts: P[] = [];
  let complete = true;
  try {
    for await (const page of pagesInRange(source, options, () => limit - posts.length)) {
      const taken = page.rows.slice(0, limit - posts.length);
      for (const row of taken) posts.push(keep(row));
      const isFull = posts.length >= limit;
      if (page.untimed && (isFull || page.next === undefined)) throw page.untimed;
      if (!isFull) continue;
      complete = page.isLast && taken.length === page.rows.length;
      break;
    }
  } catch (error) {
    return { posts, complete: false, failure: { error } };
  }
  return { posts, complete };
}
