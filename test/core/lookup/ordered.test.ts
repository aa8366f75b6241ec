import { describe, expect, it } from 'vitest';
import { ordered } from '../../../src/core/lookup/ordered.ts';
import { virtualClock } from '../virtual-clock.ts';

const collect = async <T>(items: AsyncIterable<T>) => {
  const out: T[] = [];
  for await (const item of items) out.push(item);
  return out;
};

async function* arriving<T>(items: readonly T[]) {
  yield* items;
}

describe('ordered work', () => {
  it('yields results in the order of the items, whichever is finished first', async () => {
    const clock = virtualClock();
    const slow = async (item: number) => {
      await clock.sleep((item * 37) % 100);
      return item;
    };
    const mixed = (item: number) => (item % 3 === 0 ? slow(item) : item);
    const items = Array.from({ length: 100 }, (_, index) => index);
    for (const work of [slow, mixed]) {
      expect(await collect(ordered(items, work, { window: 8 }))).toEqual(items);
      expect(await collect(ordered(arriving(items), work, { window: 8 }))).toEqual(items);
    }
  });

  it('works on as many items at the same time as its window allows', async () => {
    const clock = virtualClock();
    for (const source of [(items: number[]) => items, arriving]) {
      const running = new Set<number>();
      let most = 0;
      const work = async (item: number) => {
        running.add(item);
        most = Math.max(most, running.size);
        await clock.sleep(10);
        running.delete(item);
      };
      await collect(ordered(source(Array.from({ length: 50 }, (_, at) => at)), work, { window: 5 }));
      expect(most).toBe(5);
    }
  });

  it('yields a result while the next item is slow to arrive', async () => {
    async function* slow() {
      yield 1;
      await new Promise(() => {});
    }
    const results = ordered(slow(), async (item) => item * 2, { window: 4 });
    expect(await results.next()).toEqual({ value: 2, done: false });
    await results.return();
  });

  it('after an error starts nothing more, yields all results, then throws', async () => {
    const clock = virtualClock();
    const begun: number[] = [];
    const work = async (item: number) => {
      begun.push(item);
      await clock.sleep(item === 2 ? 1 : 50);
      if (item === 2) throw new Error('two');
      return item;
    };
    const out: number[] = [];
    const run = (async () => {
      for await (const item of ordered([0, 1, 2, 3, 4, 5, 6], work, { window: 4 })) out.push(item);
    })();
    await expect(run).rejects.toThrow('two');
    expect(out).toEqual([0, 1, 3]);
    expect(begun).toEqual([0, 1, 2, 3]);
  });
});
