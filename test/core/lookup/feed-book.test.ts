import { expect, test } from 'vitest';
import type { CachedAnswer } from '../../../src/contract/ports/answers.ts';
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
    { get: () => [], put: async (_, answers) => void cached.push(...answers.keys()) },
    book,
  );
  const put = (...handles: string[]) => {
    const answers = handles.map((handle): [string, CachedAnswer] => {
      const record = { handle, wallet: null, evmWallet: null, windows: {} };
      return [handle, { time: 1, status: 200, record }];
    });
    return cache.put('user.pnl', new Map(answers));
  };
  await put(...Array.from({ length: 100 }, (_, index) => `trader_${index}`));
  await put('later');
  expect(written).toEqual([100, 1]);
});
