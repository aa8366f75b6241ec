import { expect, test } from 'vitest';
import type { AuthorPosition } from '../../../src/contract/records/position.ts';
import { comparePositions } from '../../../src/core/positions/compare.ts';

const position = (token: string, fields: Partial<AuthorPosition>): AuthorPosition => ({
  authorId: 'ann',
  authorHandle: 'ann',
  token,
  network: null,
  symbol: null,
  firstAt: 10,
  lastAt: 20,
  posts: 2,
  tradeUsd: 1,
  holdingsUsd: 1,
  status: fields.closedAt ? 'closed' : 'open',
  closedAt: null,
  heldMs: null,
  pnlUsd: 1,
  pnlPct: null,
  isDev: false,
  ...fields,
});
const open = position('a', {});
const closed = position('a', { closedAt: 30, pnlUsd: 5 });
const again = position('a', { firstAt: 40, lastAt: 40, posts: 1 });

test.each<[string, AuthorPosition[], AuthorPosition[], object[]]>([
  ['closed', [closed], [open], [{ change: 'closed', changes: { pnlUsd: 4, posts: 0 } }]],
  ['nothing', [open, closed], [closed, open], []],
  [
    'closed and opened again',
    [again, closed],
    [open],
    [
      { change: 'new', firstAt: 40 },
      { change: 'closed', closedAt: 30 },
    ],
  ],
  [
    'closed, beside one that is open',
    [position('a', { firstAt: 15, lastAt: 40 }), closed],
    [open],
    [{ change: 'new', lastAt: 40 }, { change: 'closed' }],
  ],
  [
    'another one that was closed before',
    [position('a', { closedAt: 35, firstAt: 15, lastAt: 25 }), position('a', { closedAt: 12 })],
    [position('a', { closedAt: 12 }), position('a', { firstAt: 15, lastAt: 25 })],
    [{ change: 'closed', closedAt: 35 }],
  ],
  [
    'another PnL',
    [position('a', { pnlUsd: 0.3 })],
    [position('a', { pnlUsd: 0.1 })],
    [{ change: 'changed', changes: { pnlUsd: 0.2, posts: 0 } }],
  ],
  [
    'a PnL that is not known',
    [position('a', { pnlUsd: null })],
    [open],
    [{ changes: { pnlUsd: null } }],
  ],
  [
    'more posts',
    [position('a', { posts: 3, lastAt: 25 })],
    [open],
    [{ change: 'changed', changes: { posts: 1 } }],
  ],
  ['a deeper reading', [position('a', { posts: 3, firstAt: 5 })], [open], []],
  ['a reading that is less deep', [position('a', { posts: 1, firstAt: 20 })], [open], []],
  [
    'another token',
    [position('b', {})],
    [open],
    [
      { change: 'new', token: 'b' },
      { change: 'left', token: 'a' },
    ],
  ],
])('compares positions: %s', (_, now, before, expected) => {
  const compared = comparePositions(now, before, () => true);
  expect(compared).toHaveLength(expected.length);
  expect(compared).toMatchObject(expected);
});

test('a position that is wanted as it was, or as it is, was closed since', () => {
  const now = [position('a', { status: 'closed', closedAt: 35 })];
  for (const status of ['open', 'closed']) {
    const compared = comparePositions(now, [open], (one) => one.status === status);
    expect(compared).toMatchObject([{ change: 'closed' }]);
  }
  expect(comparePositions(now, [open], () => false)).toEqual([]);
  expect(comparePositions([], [open], () => false)).toEqual([]);
});
