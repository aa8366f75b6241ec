import type { PageRow } from './post.ts';
import type { PageSource } from './source.ts';
import { pagesInRange, type WalkOptions } from './walk.ts';

/** Posts of a feed that are read before any of them is printed. */
export interface GatheredPosts {
  /** Newest first. */
  readonly posts: readonly PageRow[];
  /** Whether these are all posts of the range: the walk has reached its end. */
  readonly complete: boolean;
  /** What ended the walk early. The posts up to there were paid for. */
  readonly failure?: { readonly error: unknown } | undefined;
}

export async function gatherPosts(
  source: PageSource,
  options: WalkOptions,
): Promise<GatheredPosts> {
  const { limit = Number.POSITIVE_INFINITY } = options;
  const posts: PageRow[] = [];
  try {
    for await (const page of pagesInRange(source, options, () => limit - posts.length)) {
      const taken = page.rows.slice(0, limit - posts.length);
      for (const post of taken) posts.push(post);
      if (posts.length < limit) continue;
      return { posts, complete: page.isLast && taken.length === page.rows.length };
    }
  } catch (error) {
    return { posts, complete: false, failure: { error } };
  }
  return { posts, complete: true };
}
