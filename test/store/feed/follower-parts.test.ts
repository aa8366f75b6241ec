import { describe, expect, it } from 'vitest';
import { Delivered } from '../../../src/store/feed/delivered.ts';
import type { StreamRow } from '../../../src/store/feed/entry.ts';
import { StreamPlace } from '../../../src/store/feed/place.ts';
import { findStart, startAtPosition } from '../../../src/store/feed/start.ts';

const MINUTE = 60_000;
const NOW = 1_800_000_000_000;

/** A post of the given minute, with an entry of the same time; `prev` is the post before it. */
const row = (id: string, minute: number, more: Partial<StreamRow> = {}): StreamRow => ({
  entry: `${NOW + minute * MINUTE}-0`,
  id,
  at: NOW + minute * MINUTE,
  body: '{}',
  prev: '',
  verified: null,
  ...more,
});
const ids = (rows: readonly StreamRow[]) => rows.map(({ id }) => id);
const deliveredAfter = (...rows: readonly StreamRow[]) => {
  const delivered = new Delivered({ entry: '0-0' });
  delivered.take(rows);
  return delivered;
};

describe('what is delivered', () => {
  it('is each post once, whatever its entry', () => {
    const delivered = deliveredAfter(row('a', 0), row('b', 1));
    expect(ids(delivered.take([row('b', 2), row('c', 2)]))).toEqual(['c']);
    expect(delivered.last).toEqual({ id: 'c', at: NOW + 2 * MINUTE });
  });

  it('is recognized by its time after a loss, until a post is new', () => {
    const delivered = deliveredAfter(row('a', 0), row('b', 60));
    delivered.loseEntry();
    const again = [row('forgotten', 50, { entry: `${NOW + 61 * MINUTE}-0` }), row('b', 60)];
    expect(ids(delivered.take(again))).toEqual([]);
    expect(ids(delivered.take([row('c', 61), row('late', 50)]))).toEqual(['c', 'late']);
  });

  it('is not taken for repeated if its entry still exists', () => {
    const delivered = deliveredAfter(row('a', 0), row('b', 60));
    delivered.loseEntry();
    delivered.keepEntry();
    expect(ids(delivered.take([row('late', 50)]))).toEqual(['late']);
  });

  it('has the posts before the start of a run, until the end of the stream is reached', () => {
    const delivered = new Delivered({ entry: '0-0', skippedUntil: NOW });
    expect(ids(delivered.take([row('old', -1), row('timeless', -1, { at: null })]))).toEqual([
      'timeless',
    ]);
    delivered.reachEnd();
    expect(ids(delivered.take([row('late', -1)]))).toEqual(['late']);
  });

  it('forgets ids that cannot be read again, but never the last 20', () => {
    const few = deliveredAfter(...Array.from({ length: 20 }, (_, at) => row(`p${at}`, at * 60)));
    expect(few.recent()).toHaveLength(20);
    const many = deliveredAfter(...Array.from({ length: 500 }, (_, at) => row(`p${at}`, at)));
    expect(many.has('p0')).toBe(false);
    expect(many.recent().length).toBeLessThan(40);
  });

  it('keeps ids as far back as posts are not verified', () => {
    const rows = Array.from({ length: 100 }, (_, at) => row(`p${at}`, at, { verified: NOW }));
    expect(deliveredAfter(...rows).has('p0')).toBe(true);
  });
});

describe('the place', () => {
  const place = () => new StreamPlace({ cursor: '0-0' });

  it.each([
    ['names the last post', row('b', 1, { prev: 'a' }), true],
    ['was read with this entry', row('a', 0, { prev: 'unread' }), true],
    ['was delivered with another entry', row('a', 5, { prev: 'unread' }), true],
    ['names an unread post', row('c', 1, { prev: 'b' }), false],
    ['begins the feed again', row('b', 1, { prev: 'born:2' }), false],
    ['begins it again with a delivered post', row('a', 5, { prev: 'born:2' }), false],
    ['names no post', row('b', 1, { prev: '' }), false],
  ])('follows if the first entry %s', (_, first, follows) => {
    expect(place().follows(first, deliveredAfter(row('a', 0, { prev: 'born:1' })))).toBe(follows);
  });

  it('follows at the beginning of the feed, and not in the middle of it, if nothing was delivered', () => {
    const delivered = new Delivered({ entry: '0-0' });
    expect(place().follows(row('a', 0, { prev: 'born:1' }), delivered)).toBe(true);
    expect(
      new StreamPlace({ cursor: '0-0', isLinked: true }).follows(
        row('b', 0, { prev: 'a' }),
        delivered,
      ),
    ).toBe(false);
  });

  it('follows right after its start', () => {
    const linked = new StreamPlace({ cursor: '5-0', isLinked: true });
    const delivered = new Delivered({ entry: '5-0' });
    expect(linked.follows(row('b', 0, { prev: 'a' }), delivered)).toBe(true);
    linked.advance('6-0');
    expect([linked.cursor, linked.isLinked]).toEqual(['6-0', false]);
  });

  it('goes back five minutes before the earlier of its entry and the end of the stream', () => {
    const here = place();
    here.goBack(row('a', 10).entry, row('b', 20).entry);
    expect(here.cursor).toBe(`${NOW + 5 * MINUTE - 1}-18446744073709551615`);
    here.goBack(row('a', 10).entry, row('b', 7).entry);
    expect(here.cursor).toBe(`${NOW + 2 * MINUTE - 1}-18446744073709551615`);
  });

  it('reports once that the store lost the feed, and once that it is there again', () => {
    const here = place();
    expect([here.startOver(false), here.startOver(false)]).toEqual(['lost', undefined]);
    expect([here.isLost, here.join(), here.join()]).toEqual([true, 'found', undefined]);
    expect(here.startOver(true)).toBeUndefined();
  });

  it('has a hole until a position covers it', () => {
    const here = place();
    here.missBefore('50-0');
    expect(here.isCovered('40-0', '60-0')).toBe(false);
    expect(here.isCovered('70-0', '60-0')).toBe(false);
    expect(here.isCovered('50-0', '60-0')).toBe(true);
    expect([here.closeHole(), here.closeHole(), here.hole]).toEqual([true, false, undefined]);
    expect(here.isCovered('40-0', '60-0')).toBe(true);
  });
});

describe('the start', () => {
  const stream = [
    row('a', 0, { prev: 'born:1' }),
    row('b', 1, { prev: 'a' }),
    row('c', 2, { prev: 'b' }),
  ];
  const ends = { newest: stream, first: stream, lastId: 'c' };
  const empty = { newest: [], first: [], lastId: '' };

  it('now skips what is in the stream', () => {
    const { place, delivered } = findStart({ kind: 'now' }, ends);
    expect([place.cursor, place.isLinked, place.hole]).toEqual([
      row('c', 2).entry,
      false,
      row('c', 2).entry,
    ]);
    expect(delivered.has('c')).toBe(true);
  });

  it('now, in a feed without posts, misses nothing', () => {
    const { place } = findStart({ kind: 'now' }, empty);
    expect([place.cursor, place.isLinked, place.hole]).toEqual(['0-0', true, undefined]);
  });

  it('at the newest posts delivers them', () => {
    const { place, delivered } = findStart(
      { kind: 'newest', rows: 2 },
      { ...ends, first: stream.slice(1) },
    );
    expect(place.isLinked).toBe(true);
    expect(ids(delivered.take(stream.slice(1)))).toEqual(['b', 'c']);
  });

  it('at a time delivers the posts from then on, and reports no gap if the feed began before', () => {
    const { place, delivered, gap } = findStart({ kind: 'since', ms: NOW + MINUTE }, ends);
    expect([gap, place.hole]).toEqual([undefined, undefined]);
    expect(ids(delivered.take(stream))).toEqual(['b', 'c']);
  });

  it('at a time before the oldest post reports a gap, with what follows it', () => {
    const rest = stream.slice(1);
    const { gap, place } = findStart(
      { kind: 'since', ms: NOW - 90 * MINUTE },
      { ...ends, first: rest },
    );
    expect(gap).toMatchObject({ from: null, to: { id: 'b' } });
    expect(gap?.ahead.map(({ id }) => id)).toEqual(['b', 'c']);
    expect(place.hole).toBe(row('b', 1).entry);
  });

  it('after delivered posts continues with the ones that follow, and finds no gap between', () => {
    const posts = [['a', NOW]] as const;
    const begin = { kind: 'since', ms: NOW - 90 * MINUTE, posts } as const;
    const { gap, delivered } = findStart(begin, { ...ends, first: stream.slice(1) });
    expect(gap).toBeUndefined();
    expect([delivered.last, delivered.verified]).toEqual([{ id: 'a', at: NOW }, begin.ms - 1]);
  });

  it('at a time in an empty stream is linked only if nothing was delivered', () => {
    const since = { kind: 'since', ms: NOW } as const;
    expect(findStart(since, empty).place.isLinked).toBe(true);
    expect(findStart({ ...since, posts: [['a', NOW]] }, empty).place.isLinked).toBe(false);
  });

  it('at a position continues after its entry', () => {
    const position = {
      entry: '9-0',
      last: { id: 'a', at: null },
      verified: null,
      known: [['a', 9]],
      hole: '7-0',
    } as const;
    const { place, delivered } = startAtPosition(position);
    expect([place.cursor, place.isLinked, place.hole]).toEqual(['9-0', false, '7-0']);
    expect([delivered.entry, delivered.recent()]).toEqual(['9-0', [['a', 9]]]);
  });
});
