import { expect, test } from 'vitest';
import { feedingBook } from '../../../src/core/lookup/feed-book.ts';

test('the numbers of a batch are written into the book at once, after they were cached', async () => {
  const cached: string[] = [];
  const written: number[] = [];
  const book = {
    look: () => [],
    noteTried: async () => {},
    async keep(readings: readonly unknown[]) {
      expect(cached.length).toBeGreaterThanOrEqual(readings.length);
      written.push(readings.length);
      return [];
    },
  };
  const cache = feedingBook(
    { get: () => undefined, put: async (_, subject) => void cached.push(subject) },
    book,
  );
  const put = (handle: string) =>
    cache.put('user.pnl', handle, {
      time: 1,
      status: 200,
      record: { handle, wallet: null, evmWallet: null, windows: {} },
    });
  await Promise.all(Array.from({ length: 100 }, (_, index) => put(`trader_${index}`)));
  await put('later');
  expect(written).toEqual([100, 1]);
});
