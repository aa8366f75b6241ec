import { describe, expect, test } from 'vitest';
import type { StreamRow } from '../../../src/store/feed/entry.ts';
import type { FeedPosition } from '../../../src/store/feed/start.ts';
import type { Position } from '../../../src/tail/position.ts';
import {
  afterFilled,
  beforeAll,
  beforePost,
  beginAfter,
  floorOf,
} from '../../../src/tail/stored/stream-place.ts';

const NOW = 1_800_000_000_000;
const FEED = 'all';
const place: FeedPosition = {
  entry: `${NOW}-0`,
  last: { id: 'a', at: NOW },
  verified: NOW - 10,
  known: [['a', NOW]],
};
const position: Position = {
  feed: 'f',
  start: NOW - 100,
  verified: NOW - 10,
  lowest: null,
  ids: [['late', NOW + 5]],
  stream: { feed: FEED, ...place },
};
const entryOf = (id: string, ms: number, verified: number | null = null): StreamRow => ({
  entry: `${NOW + ms}-0`,
  id,
  at: NOW + ms,
  body: '{}',
  prev: '',
  verified,
});

describe('where a follower begins', () => {
  test('is its place in the stream, with the posts that were delivered after it', () => {
    expect(beginAfter(position, FEED)).toMatchObject({
      kind: 'position',
      position: {
        entry: `${NOW}-0`,
        known: [
          ['a', NOW],
          ['late', NOW + 5],
        ],
      },
    });
  });

  test.each<[string, Position, string]>([
    ['of another feed', position, 'other'],
    ['of a run that read pages', { ...position, stream: undefined }, FEED],
    ['with a damaged entry', { ...position, stream: { feed: FEED, ...place, entry: 'x' } }, FEED],
    ['with damaged ids', { ...position, stream: { feed: FEED, ...place, known: [1] } }, FEED],
  ])('is the verified time of a position %s', (_, other, feedId) => {
    const begin = beginAfter(other, feedId);
    expect(begin).toEqual({ kind: 'since', ms: NOW - 9, posts: other.ids });
    expect(floorOf(begin)).toBe(Number.NEGATIVE_INFINITY);
  });

  test('has a floor only if a person asked for a time', () => {
    expect(floorOf({ kind: 'since', ms: NOW })).toBe(NOW);
    expect(floorOf({ kind: 'now' })).toBe(Number.NEGATIVE_INFINITY);
  });
});

describe('where a later run continues', () => {
  const read = [entryOf('b', 10, NOW), entryOf('c', 20), entryOf('d', 30)];

  test('is before the first post that --count has left', () => {
    expect(beforePost(read, 'd', place)).toEqual({
      entry: `${NOW + 20}-0`,
      last: { id: 'c', at: NOW + 20 },
      verified: NOW - 10,
      known: [
        ['a', NOW],
        ['b', NOW + 10],
        ['c', NOW + 20],
      ],
    });
  });

  test('is the place before, if --count has left the first post', () => {
    expect(beforePost(read, 'b', place)).toBe(place);
  });

  test('is after the last post of a gap that was fetched, however old its ids are', () => {
    const filled = afterFilled(place, [
      { id: 'x', at: NOW - 50 },
      { id: 'y', at: NOW + 7 },
    ]);
    expect(filled).toMatchObject({ last: { id: 'y', at: NOW + 7 }, verified: NOW + 7 });
    expect(filled.known).toEqual([
      ['a', NOW],
      ['x', NOW],
      ['y', NOW + 7],
    ]);
    expect(afterFilled(place, [])).toBe(place);
  });
});

test('a run without any older post begins just before the oldest of its first posts', () => {
  expect(beforeAll([entryOf('b', 10), entryOf('a', 5)])).toBe(NOW + 4);
  expect(beforeAll([{ id: 'timeless', at: null }])).toBeNull();
});
