import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KnownPosts } from '../../src/tail/known-posts.ts';
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

  test('proves what is old enough to be in pages, but nothing that is still to be printed', () => {
    const known = new KnownPosts({ start: post(0).at }, { latenessMs: 10_000 });
    known.provenTo();
    expect(known.verified).toBeNull();
    known.begin(post(0).at, null);
    known.hear([post(500).at, post(41).at, post(40).at, post(39).at]);
    known.provenTo(post(20).at);
    expect(known.verified).toBe(post(20).at - 1);
    known.provenTo();
    expect(known.verified).toBe(post(30).at);
  });

  test('gives up what lies between the last proof and the oldest post that was read', () => {
    const start = { start: post(0).at, verified: post(5).at };
    const known = new KnownPosts(start, { latenessMs: 10_000 });
    known.hear([post(42).at, post(41).at, post(40).at]);
    const gap = { from: post(5).at, to: post(20).at };
    expect(known.giveUp(post(20).at, 'why')).toEqual(gap);
    expect(known.verified).toBe(post(30).at);
    expect(known.state.coverage?.gaps).toEqual([{ ...gap, why: 'why' }]);
    expect(known.giveUp(post(30).at, 'why')).toBeUndefined();
  });

  test('may end where no older post is known that pages should show', () => {
    const known = new KnownPosts({ start: null, verified: post(0).at }, { latenessMs: 10_000 });
    expect(known.mayEndAt(null, false)).toBe(true);
    known.hear([post(60).at, post(60).at, post(60).at]);
    known.add(post(55));
    expect(known.mayEndAt(post(58).at, true)).toBe(true);
    known.add(post(20));
    expect([15, 20, 21].map((number) => known.mayEndAt(post(number).at, true))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('leaves frames to the next walk while 200,000 ids are not verified', () => {
    const known = new KnownPosts({ start: 0, verified: 0 });
    for (let at = 1; at < 200_000; at++) known.add({ id: `p${at}`, at });
    expect(known.isFull).toBe(false);
    known.add({ id: 'last', at: 200_000 });
    expect(known.isFull).toBe(true);
    known.verify(100_000);
    expect(known.isFull).toBe(false);
    expect(known.has('last')).toBe(true);
  });

  test('is unseen until there is an id, a time, or the clock of the feed', () => {
    expect(new KnownPosts().isUnseen).toBe(true);
    expect(new KnownPosts({ start: post(0).at, verified: post(0).at }).isUnseen).toBe(true);
    expect(new KnownPosts({ ids: [['p', null]] }).isUnseen).toBe(false);
    expect(new KnownPosts({ lowest: post(0).at }).isUnseen).toBe(false);
  });
});

describe('a run continues', () => {
  const ids = [['p9', null]] as const;
  const position = { feed: 'f', start: null, verified: START, lowest: null, ids };

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
