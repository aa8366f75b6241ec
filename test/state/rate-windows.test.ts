import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RATE_WINDOW_MS } from '../../src/contract/limits.ts';
import { FileWindows } from '../../src/state/rate-windows.ts';
import { room, runs } from './room.ts';

const { under } = room();
const KEY = 'trdr_live_planted0secret';
const BASE = 'https://api.example.test';

function windowsAt(dir: string | undefined, start = 1_700_000_000_000, key = KEY) {
  const clock = { ms: start };
  const notices: string[] = [];
  const windows = new FileWindows({
    ...{ dir, baseUrl: BASE, key, clock: { now: () => clock.ms } },
    notice: (text) => notices.push(text),
  });
  return { windows, clock, notices };
}

test('a 429 blocks every process, and a shorter wait does not end the block', async () => {
  const dir = under('blocked');
  const one = windowsAt(dir);
  await one.windows.block('key', 9_000);
  await one.windows.block('key', 1_000);
  expect((await windowsAt(dir).windows.take('key', 60)).waitMs).toBe(9_000);
});

test('a learned limit is known to the next run', async () => {
  const dir = under('learnt');
  await windowsAt(dir).windows.learn('key', 300);
  await windowsAt(dir).windows.learn('key', Number.NaN);
  expect(await windowsAt(dir).windows.take('key', 60)).toEqual({ waitMs: 0, statedLimit: 300 });
});

test('a clock that was set back delays calls by one window at most', async () => {
  const { windows, clock } = windowsAt(under('back'));
  await windows.take('key', 1);
  await windows.block('key', 5_000);
  clock.ms -= 86_400_000;
  expect((await windows.take('key', 1)).waitMs).toBe(5_000);
  clock.ms += 5_000;
  const { waitMs } = await windows.take('key', 1);
  expect(waitMs).toBeLessThanOrEqual(RATE_WINDOW_MS);
  clock.ms += waitMs;
  expect((await windows.take('key', 1)).waitMs).toBe(0);
});

test.each([['/dev/null/none'], [undefined]])(
  'without a folder (%s) the windows apply to the process',
  async (dir) => {
    const { windows, notices } = windowsAt(dir);
    expect((await windows.take('key', 1)).waitMs).toBe(0);
    expect((await windows.take('key', 1)).waitMs).toBeGreaterThan(0);
    expect(notices).toHaveLength(dir === undefined ? 0 : 1);
  },
);

test('no minute has more calls than the limit, and the returned wait is sufficient', async () => {
  const steps = fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 120 });
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 12 }), async (pauses, limit) => {
      const { windows, clock } = windowsAt(undefined);
      const left: number[] = [];
      for (const pause of pauses) {
        clock.ms += pause;
        const { waitMs } = await windows.take('key', limit);
        if (waitMs > 0) {
          clock.ms += waitMs;
          expect((await windows.take('key', limit)).waitMs).toBe(0);
        }
        left.push(clock.ms);
        expect(left.filter((at) => at > clock.ms - 60_000).length).toBeLessThanOrEqual(limit);
      }
    }),
    runs(200),
  );
});

test('a call that leaves late counts from its departure, unless its slot has expired', async () => {
  let now = 1_700_000_000_249;
  const windows = new FileWindows({
    ...{ dir: undefined, baseUrl: 'https://a.test', key: 'k' },
    clock: { now: () => now },
  });
  await windows.take('resolve', 1);
  now += 30_001;
  // The caller measures the time after it got its slot.
  expect(await windows.depart('resolve', 1, 30_000)).toBe(true);
  now += 40_000;
  expect((await windows.take('resolve', 1)).waitMs).toBeGreaterThan(20_000);
  now += 30_000;
  expect(await windows.depart('resolve', 1, 70_000)).toBe(false);
});
