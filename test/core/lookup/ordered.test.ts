import { expect, it } from 'vitest';
import { ordered } from '../../../src/core/lookup/ordered.ts';
import { collect } from '../fakes.ts';
import { virtualClock } from '../virtual-clock.ts';

async function* arriving<T>(items: readonly T[]) {
  yield* items;
}

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

it('yields a result while the next item is slow to arrive', async () => {
  async function* slow() {
    yield 1;
    await new Promise(() => {});
  }
  const results = ordered(slow(), async (item) => item * 2, { window: 4 });
  expect(await results.next()).toEqual({ value: 2, done: false });
  await results.return();
});
