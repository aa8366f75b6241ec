import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Board, BoardEntry } from '../../src/contract/records/launchpad.ts';
import { BoardRecord } from '../../src/contract/records/tool.ts';
import { rowsIn, tradersIn, tradersNamed } from '../../src/core/board-history.ts';
import { compareBoards } from '../../src/core/boards.ts';

const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);

const entry = (wallet: string, rank: number): BoardEntry => ({
  rank,
  wallet,
  username: `user ${wallet}`,
  isVerified: null,
  pnlSol: 1,
  pnlUsd: 100 - rank,
  pnlPercent: null,
  realizedPnlUsd: 3,
  unrealizedPnlUsd: -1,
});
const board = (wallets: readonly string[]): Board => ({
  period: 'weekly',
  capturedAt: 1,
  count: wallets.length,
  entries: wallets.map((wallet, index) => entry(wallet, index + 1)),
});

test('every trader of both boards appears once, and the changes are consistent', () => {
  const wallets = fc.uniqueArray(fc.constantFrom(...'abcdefghijklmnop'), { maxLength: 12 });
  fc.assert(
    fc.property(wallets, wallets, (now, before) => {
      const rows = compareBoards(board(now), board(before));
      for (const row of rows) expect(BoardRecord.safeParse(row).success).toBe(true);
      expect(rows.map((row) => row.wallet).sort()).toEqual(
        [...new Set([...now, ...before])].sort(),
      );
      expect(rows.filter((row) => row.change === 'new')).toHaveLength(
        now.filter((wallet) => !before.includes(wallet)).length,
      );
      for (const { wallet, rank, previousRank, rankChange, change } of rows) {
        const placeIn = (wallets: readonly string[]) => wallets.indexOf(String(wallet)) + 1 || null;
        const [is, was] = [placeIn(now), placeIn(before)];
        const moved = is && was && was - is;
        const words = { '-1': 'down', '0': 'same', '1': 'up' }[Math.sign(moved ?? 0)];
        expect([rank, previousRank, rankChange]).toEqual([is, was, moved]);
        expect(change).toBe(is === null ? 'left' : was === null ? 'new' : words);
      }
    }),
    { seed },
  );
});

test('an EVM wallet in another spelling is the same trader', () => {
  const [wallet, before, now] = ['0xAB', board(['a', '0xAB']), board(['0xab', 'a'])];
  const named = tradersNamed([wallet], [before, now]).wallets;
  expect(compareBoards(now, before).map(({ change }) => change)).toEqual(['up', 'down']);
  expect(tradersIn([before, now], named)).toMatchObject([{ wallet, ranks: [2, 1], stood: 2 }]);
  expect([...rowsIn([before, now], named)].map(({ rank }) => rank)).toEqual([2, 1]);
});
