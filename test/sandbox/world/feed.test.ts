import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFeed } from '../../../src/sandbox/world/feed.ts';
import { runs, walk } from './worlds.ts';

interface Post {
  readonly id: string;
  readonly time: number;
  readonly author: number;
}

/** A post of the naive model, which sorts and filters the list of all posts for each page. */
interface Row {
  readonly post: Post;
  until: number;
}

const feedOf = (posts: readonly Post[]) => createFeed(posts, ({ time }) => time);

function naive(
  rows: readonly Row[],
  author: number | null,
  before: string | undefined,
  limit: number,
  now: number,
) {
  const sorted = rows
    .filter(({ post, until }) => post.time <= now && until <= now)
    .toSorted((one, other) => one.post.time - other.post.time)
    .toReversed();
  const from = before === undefined ? 0 : sorted.findIndex(({ post }) => post.id === before) + 1;
  if (before !== undefined && from === 0) return null;
  const rest = sorted
    .slice(from)
    .flatMap(({ post }) => (author === null || post.author === author ? post : []));
  return { items: rest.slice(0, limit), hasMore: rest.length > limit };
}

const step = fc.record({
  kind: fc.constantFrom('page', 'page', 'page', 'add', 'add', 'remove', 'withhold', 'wait'),
  a: fc.nat({ max: 1_000 }),
  b: fc.nat({ max: 1_000 }),
});

describe('a feed', () => {
  it('equals a naive model, with ties, late and future posts, and removals', () => {
    const times = fc.array(fc.nat({ max: 30 }), { maxLength: 60 });
    fc.assert(
      fc.property(times, fc.array(step, { maxLength: 80 }), (history, steps) => {
        const posts = history.map((time, at) => ({ id: `post-${at}`, time, author: at % 3 }));
        const feed = feedOf(posts);
        let rows: Row[] = posts.map((post) => ({ post, until: 0 }));
        let now = 20;
        const some = (draw: number) => rows[draw % Math.max(1, rows.length)]?.post.id ?? 'nothing';
        for (const [number, { kind, a, b }] of steps.entries()) {
          if (kind === 'wait') now += a % 4;
          else if (kind === 'add') {
            const post = { id: `added-${number}`, time: now - 10 + (a % 14), author: b % 3 };
            for (const each of [post, post]) feed.add(each);
            rows.push({ post, until: 0 });
          } else if (kind === 'remove') {
            const id = some(a);
            feed.remove(id);
            rows = rows.filter(({ post }) => post.id !== id);
          } else if (kind === 'withhold') {
            const id = some(a);
            feed.withhold(id, now + (b % 9));
            for (const row of rows) if (row.post.id === id) row.until = now + (b % 9);
          } else {
            const author = a % 4 === 3 ? null : a % 4;
            const before = b % 3 === 0 ? undefined : b % 17 === 1 ? 'unknown' : some(b);
            const limit = 1 + (a % 12);
            const matches = (post: Post) => author === null || post.author === author;
            expect(feed.slice(matches, before, limit, now)).toEqual(naive(rows, author, before, limit, now));
          }
        }
        expect(feed.count).toBe(rows.length);
        const all = walk((before) => feed.slice(() => true, before, 7, now + 100));
        expect(all).toEqual(naive(rows, null, undefined, 1e9, now + 100)?.items);
      }),
      runs(300),
    );
  });
});
