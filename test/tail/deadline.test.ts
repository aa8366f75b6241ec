import { expect, test } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import type { FeedPage, PageSource } from '../../src/core/pages/source.ts';
import { Tail } from '../../src/tail/engine.ts';
import { waitAfter } from '../../src/tail/failures.ts';
import type { TailOptions, TailPorts } from '../../src/tail/ports.ts';
import { tailRow } from '../../src/tail/post-row.ts';
import { type VirtualClock, virtualClock } from '../core/virtual-clock.ts';
import { collecting, emptyPage, sourceOf, still } from './fakes.ts';

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
  const { writer } = collecting();
  const output = {
    writer: isBlocked ? { ...writer, write: () => new Promise<never>(() => {}) } : writer,
  };
  const ports = { clock, ...still, source: sourceOf(page, 20), connect, output, key, trouble };
  return new Tail(ports, { feed: 'f', ...options });
}

const brief = { via: 'poll', lagMs: 1_000, durationMs: 5_000 } as const;

/** A request that the service never answers. */
const unanswered: PageSource['page'] = (_, signal) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

/** The page of 20 posts before a post, one a second. */
function pageBefore(before: string | undefined, hasMore: boolean): FeedPage {
  const newest = before === undefined ? START : Number(before.slice(1)) - 1_000;
  const rows = Array.from({ length: 20 }, (_, i) => {
    const at = newest - i * 1_000;
    return tailRow({ id: `t${at}`, at }, 'at');
  }).filter((row) => row !== null);
  return { rows, hasMore, nextBefore: rows.at(-1)?.id ?? null };
}

const slowly =
  (clock: VirtualClock): PageSource['page'] =>
  async ({ before }, signal) => {
    await clock.sleep(1_000, signal);
    return pageBefore(before, true);
  };

test.each<[string, (clock: VirtualClock) => PageSource['page'], boolean, object]>([
  [
    'no page arrives',
    () => unanswered,
    false,
    { code: 'UNANSWERED', message: 'the service did not answer before the end of the run' },
  ],
  [
    'pages arrive too slowly',
    slowly,
    false,
    {
      code: 'UNANSWERED',
      message: 'the run ended before all pages of the feed were read',
      hint: 'run the command again with a longer --duration',
    },
  ],
  [
    'the output is blocked',
    () => async () => pageBefore(undefined, false),
    true,
    { code: 'BLOCKED' },
  ],
])('fails after --duration if %s', async (_, pages, isBlocked, failure) => {
  const clock = virtualClock(START);
  const options = { start: { kind: 'since', at: 0 }, ...brief } as const;
  const tail = openTail(clock, pages(clock), options, { isBlocked });
  await expect(tail.run(new AbortController().signal)).rejects.toMatchObject(failure);
});

test('ends at the end of --duration if the service was never reached', async () => {
  const clock = virtualClock(START);
  const refused = new Failure('network', 'no connection', { code: 'ECONNREFUSED' });
  const options = { start: { kind: 'now' }, ...brief } as const;
  const key = async (signal: AbortSignal) => {
    await clock.sleep(60_000, signal);
    return { live: null, ratePerMinute: null };
  };
  const tail = openTail(clock, unanswered, options, { key, trouble: () => refused });
  await expect(tail.run(new AbortController().signal)).rejects.toBe(refused);
  expect(clock.now() - START).toBe(5_000);
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
      return emptyPage;
    };
    const connect = async () => {
      dials++;
      throw rated(DAY_SECONDS);
    };
    const durationMs = 40 * MINUTE;
    const options = { start: { kind: 'now' }, via, lagMs: 10_000, durationMs } as const;
    await openTail(clock, page, options, { connect }).run(new AbortController().signal);
    if (via === 'ws') expect(dials).toBe(3);
    else expect(pages).toBeGreaterThan(20);
  },
);
