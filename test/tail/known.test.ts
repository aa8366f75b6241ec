import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KnownPosts } from '../../src/tail/known.ts';
import { continueAfter } from '../../src/tail/position.ts';

const START = Date.UTC(2026, 0, 1);
const post = (number: number) => ({ id: `p${number}`, at: START + number * 1_000 });

describe('what a tail knows', () => {
  test('is done: what was delivered, and what is verified or before the start', () => {
    const known = new KnownPosts({ start: post(0).at });
    known.add(post(5));
    expect([0, 3, 5].map((number) => known.isDone(post(number)))).toEqual([true, false, true]);
    known.verify(post(4).at);
    expect([3, 5, 6].map((number) => known.isDone(post(number)))).toEqual([true, true, false]);
    expect(known.isDone({ id: 'other', at: null })).toBe(false);
  });

  test('survives a save at any moment, whatever was added and verified before', () => {
    const step = fc.record({ number: fc.nat({ max: 60 }), verifies: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const known = new KnownPosts({ start: post(0).at });
        const added = new Set<number>();
        for (const { number, verifies } of steps) {
          if (verifies) known.verify(post(number).at);
          else if (!known.isDone(post(number))) {
            known.add(post(number));
            added.add(number);
          }
        }
        const back = new KnownPosts(known.state);
        for (const number of added) expect(back.isDone(post(number))).toBe(true);
        for (let number = 0; number <= 60; number++)
          expect(back.isDone(post(number))).toBe(known.isDone(post(number)));
      }),
    );
  });

  test('recognizes a late post, and repetitions of posts that were verified long ago', () => {
    const known = new KnownPosts({ start: post(0).at });
    known.add(post(1));
    known.verify(post(20).at);
    expect([known.isLate(post(1)), known.isLate(post(2))]).toEqual([false, true]);
    known.addLate(post(2));
    expect(known.isLate(post(2))).toBe(false);
    expect(new KnownPosts(known.state).isLate(post(2))).toBe(false);
  });

  test('takes a frame from before the position for a repetition, but not one that this run has verified', () => {
    const resumed = { start: post(0).at, verified: post(10).at, lowest: post(1).at, ids: [] };
    const known = new KnownPosts(resumed, { deliveredTo: resumed.verified });
    known.verify(post(20).at);
    expect([9, 10, 11, 20].map((number) => known.isLate(post(number)))).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  test('is unseen until there is an id, a time, or the clock of the feed', () => {
    expect(new KnownPosts().isUnseen).toBe(true);
    expect(new KnownPosts({ start: post(0).at, verified: post(0).at }).isUnseen).toBe(true);
    expect(new KnownPosts({ ids: [['p', null]] }).isUnseen).toBe(false);
    expect(new KnownPosts({ lowest: post(0).at }).isUnseen).toBe(false);
  });
});

describe('a run continues', () => {
  const position = {
    feed: 'f',
    start: null,
    verified: START,
    lowest: null,
    ids: [['p9', null] as const],
  };

  test('from its position, and knows the lines behind it', () => {
    expect(continueAfter(position, [post(3)], 'f', 60_000)).toMatchObject({
      verified: START,
      ids: [
        ['p9', null],
        ['p3', post(3).at],
      ],
    });
  });

  test('without a position, from before the newest lines, whatever the time of a single line', () => {
    const lines = [post(100), post(101), { id: 'x', at: START * 2 }];
    const next = continueAfter(undefined, lines, 'f', 10_000);
    expect(next).toMatchObject({ start: post(100).at - 20_000, verified: post(100).at - 20_000 });
    expect(next?.ids).toHaveLength(3);
    expect(continueAfter(undefined, [], 'f', 10_000)).toBeUndefined();
  });
});
