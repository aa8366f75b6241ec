import { describe, expect, test } from 'vitest';
import { KnownPosts } from '../../src/tail/known-posts.ts';
import { FeedOutput } from '../../src/tail/output/feed-output.ts';
import type { TailOptions } from '../../src/tail/ports.ts';
import type { TailRow } from '../../src/tail/post-row.ts';
import { RowPrinter } from '../../src/tail/row-printer.ts';
import { Session } from '../../src/tail/socket/session.ts';
import { timing } from '../../src/tail/timing.ts';
import type { Depth, Walked } from '../../src/tail/walk/walk.ts';
import { RowStack } from '../../src/tail/walk/walk-rows.ts';
import { virtualClock } from '../core/virtual-clock.ts';
import { collecting, sourceOf, still, unparsed } from './fakes.ts';

const NOW = Date.UTC(2026, 0, 1);
const SECOND = 1_000;

const rowOf = (secondsAgo: number): TailRow =>
  unparsed(`p${secondsAgo}`, NOW - secondsAgo * SECOND, null);

async function walkedOf(depth: Depth, rows: readonly TailRow[], cut?: 'WALK_STUCK') {
  const stack = new RowStack(undefined);
  await stack.push(rows);
  const times = rows.map(({ at }) => at);
  const walked: Walked = {
    depth,
    cut,
    failure: undefined,
    startedAt: 0,
    readAt: NOW,
    pages: 1,
    rows: rows.length,
    oldest: times.at(-1) ?? null,
    times,
    newer: 0,
    coveredMs: 0,
    from: null,
    skippedTo: null,
    stack,
  };
  return walked;
}

type Options = Pick<TailOptions, 'start' | 'count' | 'filter' | 'carries'>;

function open(options: Options, known: KnownPosts) {
  const clock = virtualClock(NOW);
  const { ids: printed, writer } = collecting();
  const ports = { clock, ...still, source: sourceOf(), output: { writer } };
  const whole = { ...options, via: 'poll', lagMs: 1_000, feed: 'f' } as const;
  const signal = new AbortController().signal;
  const printer = new RowPrinter({
    clock,
    options,
    timing,
    known,
    output: new FeedOutput({
      writer,
      clock,
      wake: () => {},
      count: options.count,
      take: () => undefined,
      isSafe: true,
    }),
    session: new Session(ports, whole, timing, () => {}, signal),
    skip: () => {},
    notify: () => {},
  });
  return { printer, printed };
}

/** Steps until the rows of a walk are printed. */
async function fill(printer: RowPrinter, walked: Walked) {
  printer.begin(walked);
  for (;;) {
    const done = await printer.step(true);
    if (done.kind !== 'something') return done;
  }
}

const knownTo = (secondsAgo: number) => {
  const verified = NOW - secondsAgo * SECOND;
  return new KnownPosts({ start: verified, verified });
};
const now: Options = { start: { kind: 'now' } };

describe('a printer', () => {
  test('verifies what a complete deep walk proves, and nothing after others', async () => {
    for (const [depth, cut, isProven] of [
      ['deep', undefined, true],
      ['shallow', undefined, false],
      ['deep', 'WALK_STUCK', false],
    ] as const) {
      const known = knownTo(300);
      known.hear([0, 1, 2].map((secondsAgo) => NOW - secondsAgo * SECOND));
      const { printer } = open(now, known);
      await fill(printer, await walkedOf(depth, [rowOf(10)], cut));
      expect(known.verified).toBe(NOW - (isProven ? 122 : 300) * SECOND);
    }
  });

  test('never verifies rows that are still to be printed', async () => {
    const known = knownTo(3_000);
    known.hear([0, 1, 2].map((secondsAgo) => NOW - secondsAgo * SECOND));
    const { printer, printed } = open(now, known);
    const rows = Array.from({ length: 1_200 }, (_, i) => rowOf(i + 1));
    printer.begin(await walkedOf('deep', rows));
    await printer.step(true);
    expect(printed).toHaveLength(500);
    expect(known.verified).toBe(NOW - 700 * SECOND - 1);
  });
});
