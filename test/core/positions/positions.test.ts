import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Sent } from '../../../src/contract/read-record.ts';
import { pageRow, withoutFutureTimes } from '../../../src/core/pages/post.ts';
import { positionPosts, positionsOf } from '../../../src/core/positions/positions.ts';
import { summaryOf } from '../../../src/core/positions/summary.ts';

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;
const EVM = '0xAbCdEf0000000000000000000000000000000001';

/** A thesis of `ann` about the token `tok`, posted some hours ago. */
const post = (id: string, hoursAgo: number, fields: Sent = {}): Sent => ({
  id,
  authorId: 'ann',
  authorHandle: 'ann',
  tokenAddress: 'tok',
  tokenSymbol: 'TOK',
  tokenNetwork: 'sol',
  platformCreatedAt: NOW - hoursAgo * HOUR,
  updatedAt: NOW - hoursAgo * HOUR,
  closedAt: null,
  authorTradeUsd: 100,
  holdingsUsd: 50,
  unrealizedPnlUsd: 1,
  ...fields,
});

const closedAt = (hoursAgo: number, realizedPnlUsd: number | null): Sent => ({
  closedAt: NOW - hoursAgo * HOUR,
  updatedAt: NOW - hoursAgo * HOUR,
  realizedPnlUsd,
  unrealizedPnlUsd: null,
});

const read = (posts: readonly Sent[]) =>
  positionsOf(
    withoutFutureTimes(
      posts.map((each) => pageRow(each, 'platformCreatedAt')),
      NOW,
      false,
    ).map(positionPosts().keep),
  );
const listed = (...posts: Sent[]) => read(posts).positions;

describe('posts make positions', () => {
  const cases: readonly (readonly [name: string, posts: readonly Sent[], expected: object[]])[] = [
    [
      'several posts, the figures of the one that was written last',
      [post('a', 9, { authorTradeUsd: 70 }), post('b', 5, { holdingsUsd: 9, unrealizedPnlUsd: 4 })],
      [{ posts: 2, firstAt: NOW - 9 * HOUR, tradeUsd: 70, holdingsUsd: 9, pnlUsd: 4 }],
    ],
    [
      'an old post that was written again',
      [post('a', 9, { updatedAt: NOW, unrealizedPnlUsd: 8 }), post('b', 5)],
      [{ posts: 2, pnlUsd: 8, lastAt: NOW - 5 * HOUR }],
    ],
    [
      'a position that was opened again',
      [post('a', 9, closedAt(8, -3)), post('b', 2)],
      [
        { status: 'open', pnlUsd: 1, heldMs: null },
        { status: 'closed', pnlUsd: -3, heldMs: HOUR },
      ],
    ],
    [
      'an EVM address in two spellings',
      [post('a', 2, { tokenAddress: EVM }), post('b', 1, { tokenAddress: EVM.toLowerCase() })],
      [{ posts: 2, token: EVM.toLowerCase() }],
    ],
    [
      'a Solana address in two spellings, which are two tokens',
      [post('a', 2, { tokenAddress: 'Tok' }), post('b', 1)],
      [{ token: 'tok' }, { token: 'Tok' }],
    ],
    [
      'an author who was renamed',
      [post('a', 2), post('b', 1, { authorHandle: 'anna' })],
      [{ posts: 2, authorHandle: 'anna' }],
    ],
    [
      'posts that do not say whether it is open',
      [post('a', 2, { closedAt: undefined }), post('b', 1, { closedAt: 'soon' })],
      [{ posts: 2, status: 'unknown', pnlUsd: null }],
    ],
    ['no PnL', [post('a', 2, closedAt(1, null))], [{ status: 'closed', pnlUsd: null }]],
    ['only the single PnL', [post('a', 2, { ...closedAt(1, null), pnl: -7 })], [{ pnlUsd: -7 }]],
    [
      'a running PnL beside no final one',
      [post('a', 2, { ...closedAt(1, null), unrealizedPnlUsd: 5, pnl: 5 })],
      [{ pnlUsd: null }],
    ],
    [
      'an open position of which a part was sold',
      [post('a', 2, { realizedPnlUsd: 30, pnl: 30 })],
      [{ status: 'open', pnlUsd: 1 }],
    ],
    ['two authors', [post('a', 2), post('b', 1, { authorId: 'bob' })], [{}, {}]],
    ['a dev', [post('a', 2, { authorIsDev: true }), post('b', 1)], [{ isDev: true }]],
    [
      'a close in microseconds',
      [post('a', 2, { ...closedAt(1, 1), closedAt: NOW * 1000 })],
      [{ status: 'closed', heldMs: null }],
    ],
    ['a close before the first post', [post('a', 2, closedAt(3, 1))], [{ heldMs: null }]],
    ['a post that is there twice', [post('a', 2), post('a', 2)], [{ posts: 1 }]],
  ];
  test.each(cases)('%s', (_, posts, expected) => {
    const forward = listed(...posts);
    expect(forward).toHaveLength(expected.length);
    expect(forward).toMatchObject(expected);
    expect(listed(...posts.toReversed())).toEqual(forward);
  });

  test('posts without an id, an author, a token or a usable time are counted beside', () => {
    const { positions, ...others } = read([
      post('a', 1, { authorId: null }),
      post('b', 1, { tokenAddress: '' }),
      post('c', 1, { platformCreatedAt: null }),
      post('d', 1, { platformCreatedAt: NOW + 48 * HOUR }),
      { authorId: 'ann', tokenAddress: 'tok' },
    ]);
    expect(positions).toEqual([]);
    expect(others.beside).toEqual({
      withoutId: 1,
      withoutAuthor: 1,
      withoutToken: 1,
      withoutTime: 2,
    });
    expect(others.read).toEqual({ posts: 4, from: NOW - HOUR, to: NOW - HOUR });
  });
});

describe('a summary', () => {
  const pnls = (...values: (number | null)[]) =>
    summaryOf(
      listed(
        ...values.map((value, at) =>
          post(`${at}`, 9, { ...closedAt(at + 1, value), tokenAddress: `tok${at}` }),
        ),
        post('open', 1, { tokenAddress: 'other', unrealizedPnlUsd: 1_000 }),
      ),
    );

  test('keeps closed and open apart, and unknown out of the sums', () => {
    const { closed, open } = pnls(-100, 10, 10, null, 10, 10);
    expect(closed).toMatchObject({ positions: 6, won: 4, lost: 1, unknown: 1, sumUsd: -60 });
    expect(closed).toMatchObject({ meanUsd: -12, medianUsd: 10, worst: { pnlUsd: -100 } });
    expect(closed.largestShare).toBeCloseTo(100 / 60);
    expect(open).toEqual({ positions: 1, unknown: 0, runningSumUsd: 1_000 });
  });

  test('of fewer than five values states them in place of a median', () => {
    expect(pnls(1, null, 3, 0.2).closed).toMatchObject({ medianUsd: null, valuesUsd: [3, 1, 0.2] });
    expect(pnls(1, 2, 3, 4, 5).closed).not.toHaveProperty('valuesUsd');
  });

  test('of fewer than five closed positions states how long each was held', () => {
    const heldFor = (...hours: number[]) =>
      summaryOf(
        listed(
          ...hours.map((each, at) =>
            post(`${at}`, 99, { ...closedAt(99 - each, 1), tokenAddress: `tok${at}` }),
          ),
        ),
      ).closed;
    const few = { heldMedianMs: null, heldValuesMs: [1, 3, 7].map((each) => each * HOUR) };
    expect(heldFor(7, 1, 3)).toMatchObject(few);
    expect(heldFor(7, 1, 3, 9, 2)).toMatchObject({ heldMedianMs: 3 * HOUR });
    expect(heldFor(7, 1, 3, 9, 2)).not.toHaveProperty('heldValuesMs');
  });

  test('of nothing that is known has no sum', () => {
    expect(pnls(null, null).closed).toMatchObject({ sumUsd: null, meanUsd: null, best: null });
    expect(summaryOf([]).open.runningSumUsd).toBeNull();
  });

  test('has no noise of binary fractions', () => {
    expect(pnls(0.1, 0.2).closed.sumUsd).toBe(0.3);
    const even = pnls(0.1, 0.2, -0.3).closed;
    expect([even.sumUsd, even.meanUsd, even.largestShare]).toEqual([0, 0, null]);
    expect(pnls(3, 1, 2, 10, 2, 5).closed.medianUsd).toBe(2.5);
  });
});

test('the order of posts, and versions that are older, change nothing', () => {
  const version = fc.record({
    at: fc.integer({ min: 0, max: 5 }),
    wrote: fc.integer({ min: 0, max: 3 }),
    token: fc.constantFrom('tok', EVM, EVM.toLowerCase(), null),
    author: fc.constantFrom('ann', 'bob', undefined),
    close: fc.constantFrom(null, 1, 2, undefined),
    pnl: fc.constantFrom(null, 0.1, 0.2, -5),
    id: fc.integer({ min: 0, max: 9 }),
  });
  const posts = fc.array(version, { maxLength: 30 }).map((versions) =>
    versions.map(({ at, wrote, token, author, close, pnl, id }) =>
      post(`${id}`, at, {
        authorId: author,
        tokenAddress: token,
        updatedAt: NOW - wrote,
        closedAt: typeof close === 'number' ? NOW - close : close,
        realizedPnlUsd: pnl,
        unrealizedPnlUsd: pnl,
      }),
    ),
  );
  const arranged = posts.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
  );
  fc.assert(
    fc.property(arranged, ([all, shuffled]) => {
      expect(listed(...shuffled)).toEqual(listed(...all));
      expect(summaryOf(listed(...shuffled))).toEqual(summaryOf(listed(...all)));
    }),
  );
});
