import fc from 'fast-check';
import { expect, test } from 'vitest';
import { boundOf, Lane, placed, takeAfter } from '../../../src/core/pages/lane.ts';
import type { PageRow } from '../../../src/core/pages/post.ts';
import { check } from '../../output/check.ts';

const row = (id: string, at: number | null): PageRow => ({ id, at, record: {}, raw: null });

/** A post as it is placed, and as it is dated: a few are dated too old, or not at all. */
interface Post {
  readonly id: string;
  readonly place: number;
  readonly row: PageRow;
}

/** Merges feeds like a reader: takes what is certain, and reads the feed that may have newer rows. */
function merged(feeds: readonly (readonly Post[])[], size: number): (string | null)[] {
  const lanes = feeds.map((posts) => ({ lane: new Lane(), rest: [...posts] }));
  const all = lanes.map(({ lane }) => lane);
  const ids: (string | null)[] = [];
  for (;;) {
    const bound = boundOf(all);
    ids.push(...takeAfter(all, bound).map((taken) => taken.row.id));
    const next = lanes.find(({ lane }) => lane.bound === bound);
    if (next === undefined || next.lane.isEnded) return ids;
    const page = next.rest.splice(0, size).map((post) => post.row);
    const times = page.map(({ at }) => at);
    if (page.length === 0) next.lane.end();
    else next.lane.add(placed(page), times);
  }
}

test('posts of several feeds are merged by time, although single ones are dated wrongly', () => {
  const feed = fc.array(fc.record({ gap: fc.integer({ min: 1, max: 9 }), odd: fc.nat(9) }), {
    maxLength: 40,
  });
  check(
    fc.property(fc.array(feed, { minLength: 1, maxLength: 4 }), fc.nat(3), (feeds, more) => {
      const size = 4 + more;
      const posts = feeds.map((each, lane): Post[] => {
        let place = 1e4;
        return each.map(({ gap, odd }, index) => {
          place -= gap;
          // Two that are dated wrongly are never among three in a row.
          const isOdd = odd < 5 && index % 3 === 2 && index < each.length - 1;
          const wrong = odd < 2 ? null : 1;
          const id = `${lane}-${index}`;
          return { id, place, row: row(id, isOdd ? wrong : place) };
        });
      });
      const places = new Map(posts.flat().map((post) => [post.id, post]));
      const ids = merged(posts, size).map((id) => id ?? '');
      expect(ids.toSorted()).toEqual([...places.keys()].toSorted());
      const dated = ids.flatMap((id) => {
        const post = places.get(id);
        return post && post.row.at === post.place ? [post.place] : [];
      });
      expect(dated).toEqual(dated.toSorted((one, other) => other - one));
    }),
  );
});

test('a post without a time keeps its place above one that is left out', () => {
  const [first] = placed([row('timeless', null), row('left out', 9), row('old', 1)]);
  const lane = new Lane();
  lane.add(first ? [first, ...placed([row('old', 1)])] : [], [null, 9, 1]);
  expect(lane.takeAfter(5).map((taken) => taken.row.id)).toEqual(['timeless']);
});
