import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import type { FeedPage } from '../../../src/core/pages/source.ts';
import { KnownPosts } from '../../../src/tail/known-posts.ts';
import type { TailNotice } from '../../../src/tail/notice.ts';
import type { TailOptions } from '../../../src/tail/ports.ts';
import { tailRow } from '../../../src/tail/post-row.ts';
import { timing } from '../../../src/tail/timing.ts';
import type { Walked } from '../../../src/tail/walk/walk.ts';
import { type Connection, Walker } from '../../../src/tail/walk/walker.ts';
import { virtualClock } from '../../core/virtual-clock.ts';
import { sourceOf, still } from '../fakes.ts';

const NOW = Date.UTC(2026, 0, 1);
const SECOND = 1_000;

const rows = Array.from({ length: 20 }, (_, i) =>
  tailRow({ id: `p${i}`, at: NOW - i * SECOND }, 'at'),
).filter((row) => row !== null);
/** A page whose last rows are verified. */
const page: FeedPage = { rows, hasMore: true, nextBefore: 'p19' };
const polls: Connection = { mode: 'poll', isConnected: false, downSince: 0, pollMs: 10_000 };
const outage = new Failure('network', 'away', { code: 'UNREACHABLE', retryable: true });
const noUnits = new Failure('quota', 'no units', { code: 'QUOTA_EXCEEDED', status: 402 });

/** A walker that continues from a position; `answer` is called for each request, from 0 on. */
function open(answer: (nth: number) => FeedPage, options: Partial<TailOptions> = {}) {
  const clock = virtualClock(NOW);
  const known = new KnownPosts({ start: NOW - 10 * SECOND, verified: NOW - 10 * SECOND });
  const notices: TailNotice[] = [];
  const changed = new AbortController();
  const asked: number[] = [];
  let wake = () => {};
  const walker = new Walker({
    ports: {
      clock,
      random: still.random,
      source: sourceOf(async () => {
        asked.push(clock.now() - NOW);
        return answer(asked.length - 1);
      }),
    },
    options: { start: { kind: 'since', at: NOW }, lagMs: 10_000, ...options },
    timing,
    known,
    money: { changed: changed.signal, isGrantedOnce: false },
    signal: new AbortController().signal,
    wake: () => wake(),
    notify: (notice) => notices.push(notice),
    skip: () => {},
  });
  /** Waits until a walk has ended; returns it, unless it is repeated. */
  const ended = async (): Promise<Walked | undefined> => {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
    return walker.finished();
  };
  return { walker, clock, notices, asked, changed, ended };
}

/** Walks until a walk is accepted, and prints it. */
async function walkOnce({ walker, clock, ended }: ReturnType<typeof open>): Promise<Walked> {
  for (;;) {
    const waitMs = walker.due(polls) - clock.mono();
    if (waitMs > 0) await clock.sleep(waitMs);
    expect(walker.step(polls)).toBe(true);
    const walked = await ended();
    if (!walked) continue;
    walker.printed(walked);
    return walked;
  }
}

describe('a walker', () => {
  test('begins with a deep walk, and polls with shallow ones until a verification is a minute old', async () => {
    const run = open(() => page);
    const depths: string[] = [];
    while (depths.length < 8) depths.push((await walkOnce(run)).depth);
    expect(depths).toEqual(['deep', ...Array(5).fill('shallow'), 'deep', 'shallow']);
    expect(run.asked).toEqual(Array.from({ length: 8 }, (_, i) => 10_000 * i));
  });

  test('makes one walk at a time, and a requested one at once and deep', async () => {
    const run = open(() => page);
    await walkOnce(run);
    run.walker.want();
    expect(run.walker.step(polls)).toBe(true);
    run.walker.want();
    expect([run.walker.step(polls), run.walker.due(polls)]).toEqual([false, Infinity]);
    expect((await run.ended())?.depth).toBe('deep');
  });

  test('repeats a walk that leads nowhere, and hands over the third one that was given up', async () => {
    const nowhere = (nth: number): FeedPage =>
      nth % 6 === 0 ? { ...page, rows: rows.slice(0, 5) } : { ...page, rows: [] };
    const run = open(nowhere);
    const walked = await walkOnce(run);
    expect(walked).toMatchObject({ cut: 'WALK_STUCK', rows: 5 });
    expect(run.asked).toHaveLength(18);
    expect(run.notices.filter(({ kind }) => kind === 'wait')).toHaveLength(2);
    expect([run.walker.wasVerified, run.walker.completeAt]).toEqual([true, undefined]);
  });

  test('makes one last walk, and none after it', async () => {
    const run = open(() => page);
    await walkOnce(run);
    run.walker.finale = 'wanted';
    await walkOnce(run);
    expect(run.walker.finale).toBe('done');
    run.walker.want();
    expect(run.walker.step(polls)).toBe(false);
  });
});

describe('a request for a page', () => {
  test('is repeated as long as the service is away, and the walk begins when it was answered', async () => {
    const run = open((nth) => {
      if (nth > 0 && nth < 30) throw outage;
      return page;
    });
    await walkOnce(run);
    expect(run.walker.reader.trouble).toBeUndefined();
    const walked = await walkOnce(run);
    expect(walked.startedAt).toBe(run.clock.mono());
    expect(run.asked.at(-1)).toBeGreaterThan(5 * 60 * SECOND);
  });

  test('fails soon if the service was never reached', async () => {
    const run = open(() => {
      throw outage;
    });
    await expect(walkOnce(run)).rejects.toBe(outage);
    expect(run.asked).toHaveLength(2);
    expect(run.walker.reader.pages).toBe(0);
  });

  test('waits for units only if asked to, and until a budget changes', async () => {
    const without = open((nth) => {
      if (nth > 0) throw noUnits;
      return page;
    });
    await walkOnce(without);
    await expect(walkOnce(without)).rejects.toBe(noUnits);
    const run = open(
      (nth) => {
        if (nth === 1) throw noUnits;
        return page;
      },
      { waitForBudget: true },
    );
    await walkOnce(run);
    void run.clock.sleep(60 * SECOND).then(() => run.changed.abort());
    await walkOnce(run);
    expect(run.asked.at(-1)).toBe(60 * SECOND);
    expect(run.notices.map(({ kind }) => kind)).toEqual(['budget', 'renewed']);
  });
});
