import { expect, test } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import type { FeedPage, PageSource } from '../../src/core/pages/source.ts';
import { createTail } from '../../src/tail/engine.ts';
import { waitAfter } from '../../src/tail/failures.ts';
import type { TailOptions, TailPorts } from '../../src/tail/ports.ts';
import { tailRow } from '../../src/tail/post-row.ts';
import { type VirtualClock, virtualClock } from '../core/virtual-clock.ts';

const START = Date.UTC(2026, 0, 1);

/** A tail whose output accepts everything, or nothing. */
function openTail(
  clock: VirtualClock,
  page: PageSource['page'],
  options: Pick<TailOptions, 'start' | 'via' | 'lagMs' | 'durationMs'>,
  {
    connect,
    isBlocked = false,
    key,
    trouble,
  }: Pick<TailPorts, 'connect' | 'key' | 'trouble'> & { readonly isBlocked?: boolean } = {},
) {
  const write = () => (isBlocked ? new Promise<never>(() => {}) : true);
  const source = { page, sizes: { step: 20, max: 20 }, stepCu: 200 };
  const writer = { write, flush: async () => true };
  const ports = {
    clock,
    random: () => 0.5,
    source,
    connect,
    output: { writer },
    key,
    trouble,
    spent: () => ({ cu: 0, atMost: 0 }),
  };
  return createTail(ports, { feed: 'f', ...options });
}

/** Runs a tail for 5 s, which must end with a failure. */
async function runBriefly(page: (clock: VirtualClock) => PageSource['page'], isBlocked = false) {
  const clock = virtualClock(START);
  const options = {
    start: { kind: 'since', at: 0 },
    via: 'poll',
    lagMs: 1_000,
    durationMs: 5_000,
  } as const;
  return openTail(clock, page(clock), options, { isBlocked }).run(new AbortController().signal);
}

/** A page of 20 posts, which are older than those of the pages before it. */
function nthPage(n: number, hasMore: boolean): FeedPage {
  const rows = Array.from({ length: 20 }, (_, i) => {
    const at = START - (20 * n + i) * 1_000;
    return tailRow({ id: `t${at}`, at }, 'at');
  }).filter((row) => row !== null);
  return { rows, hasMore, nextBefore: rows.at(-1)?.id ?? null };
}

test('reports that the service did not answer if no page arrived since the end of --duration', async () => {
  const silent = runBriefly(
    () => (_, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      ),
  );
  await expect(silent).rejects.toMatchObject({
    code: 'UNANSWERED',
    message: 'the service did not answer before the end of the run',
  });
});

test('ends at the end of --duration if the service was never reached', async () => {
  const clock = virtualClock(START);
  const refused = new Failure('network', 'no connection', { code: 'ECONNREFUSED' });
  const page: PageSource['page'] = (_, signal) =>
    new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason)),
    );
  const options = { start: { kind: 'now' }, via: 'poll', lagMs: 1_000, durationMs: 5_000 } as const;
  const key = async (signal: AbortSignal) => {
    await clock.sleep(60_000, signal);
    return { live: null, ratePerMinute: null };
  };
  const tail = openTail(clock, page, options, { key, trouble: () => refused });
  await expect(tail.run(new AbortController().signal)).rejects.toBe(refused);
  expect(clock.now() - START).toBe(5_000);
});

test('suggests a longer --duration if pages arrived, but too slowly', async () => {
  let pages = 0;
  const slow = runBriefly((clock) => async (_, signal) => {
    await clock.sleep(1_000, signal);
    return nthPage(pages++, true);
  });
  await expect(slow).rejects.toMatchObject({
    code: 'UNANSWERED',
    message: 'the run ended before all pages of the feed were read',
    hint: 'run the command again with a longer --duration',
  });
});

test('reports a blocked output', async () => {
  const blocked = runBriefly(() => async () => nthPage(0, false), true);
  await expect(blocked).rejects.toMatchObject({ code: 'BLOCKED' });
});

const MINUTE = 60_000;
const DAY_SECONDS = 86_400;
const rated = (retryAfter?: number) =>
  new Failure('rate', 'slow down', { code: 'RATE_LIMITED', retryAfter });

test('a wait that the service requests is at most 15 minutes', () => {
  expect([rated(DAY_SECONDS), rated(7), rated()].map(waitAfter)).toEqual([15 * MINUTE, 7_000, 0]);
});

test.each(['poll', 'ws'] as const)(
  'a tail (%s) tries again 15 minutes after a 429 that states a day',
  async (via) => {
    const clock = virtualClock(START);
    let pages = 0;
    let dials = 0;
    const page = async () => {
      if (++pages === 4) throw rated(DAY_SECONDS);
      return { rows: [], hasMore: false, nextBefore: null };
    };
    const connect = async () => {
      dials++;
      throw rated(DAY_SECONDS);
    };
    const options = {
      start: { kind: 'now' },
      via,
      lagMs: 10_000,
      durationMs: 40 * MINUTE,
    } as const;
    await openTail(clock, page, options, { connect }).run(new AbortController().signal);
    if (via === 'ws') expect(dials).toBe(3);
    else expect(pages).toBeGreaterThan(20);
  },
);
