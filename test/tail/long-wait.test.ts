import { expect, test } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import { createTail } from '../../src/tail/engine.ts';
import { waitAfter } from '../../src/tail/failures.ts';
import { virtualClock } from '../core/virtual-clock.ts';

const MINUTE = 60_000;
const DAY_SECONDS = 86_400;
const rated = (retryAfter?: number) => new Failure('rate', 'slow down', { code: 'RATE_LIMITED', retryAfter });

test('a wait that the service requests is at most 15 minutes', () => {
  expect([rated(DAY_SECONDS), rated(7), rated()].map(waitAfter)).toEqual([15 * MINUTE, 7_000, 0]);
});

/** Runs a tail for 40 minutes. The service rejects its fourth page and its connections, and asks it to wait a day. */
async function runRejected(via: 'ws' | 'poll') {
  const clock = virtualClock(Date.UTC(2026, 0, 1));
  let pages = 0;
  let dials = 0;
  const tail = createTail(
    {
      clock,
      random: () => 0.5,
      source: {
        async page() {
          if (++pages === 4) throw rated(DAY_SECONDS);
          return { rows: [], hasMore: false, nextBefore: null };
        },
        sizes: { step: 20, max: 40 },
        stepCu: 200,
      },
      async connect() {
        dials++;
        throw rated(DAY_SECONDS);
      },
      sink: { write: () => true, flush: async () => true },
      spent: () => ({ cu: 0, atMost: 0 }),
    },
    { start: { kind: 'now' }, via, lagMs: 10_000, feed: 'f', waitForBudget: false, on: () => {} },
  );
  const stop = new AbortController();
  clock.sleep(40 * MINUTE, stop.signal).then(
    () => stop.abort(new Error('time is up')),
    () => {},
  );
  await tail.run(stop.signal);
  return { pages, dials };
}

test('a tail requests pages again 15 minutes after a 429 that states a day', async () => {
  const { pages } = await runRejected('poll');
  expect(pages).toBeGreaterThan(20);
});

test('a tail connects again 15 minutes after a 429 that states a day', async () => {
  const { dials } = await runRejected('ws');
  expect(dials).toBe(3);
});
