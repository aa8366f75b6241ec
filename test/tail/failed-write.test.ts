import { expect, test } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import { createTail } from '../../src/tail/engine.ts';
import type { TailNotice } from '../../src/tail/notice.ts';
import type { Position } from '../../src/tail/position.ts';
import { virtualClock } from '../core/virtual-clock.ts';

const START = Date.UTC(2026, 0, 1);

/** Runs a tail of a feed with a new post every second. Its third write fails in the given way. */
async function runFailing(fail: () => Promise<boolean>) {
  const clock = virtualClock(START);
  const written: string[] = [];
  const saved: Position[] = [];
  const notices: TailNotice[] = [];
  let writes = 0;
  const tail = createTail(
    {
      clock,
      random: () => 0.5,
      source: {
        async page({ before, limit }) {
          const newest = before === undefined ? Math.floor(clock.now() / 1_000) : Number(before) - 1;
          const rows = Array.from({ length: Math.min(20, limit) }, (_, back) => {
            const id = String(newest - back);
            return { id, at: Number(id) * 1_000, record: { id }, raw: null };
          });
          return { rows, hasMore: true, nextBefore: rows.at(-1)?.id ?? null };
        },
        sizes: { step: 20, max: 40 },
        stepCu: 200,
      },
      sink: {
        write(rows) {
          if (++writes >= 3) return fail();
          written.push(...rows.map(({ id }) => id));
          return true;
        },
        flush: async () => true,
      },
      save: async (position) => void saved.push(position),
      spent: () => ({ cu: 0, atMost: 0 }),
    },
    {
      ...{ start: { kind: 'now' }, via: 'poll', lagMs: 5_000, feed: 'f', waitForBudget: false },
      on: (notice) => notices.push(notice),
    },
  );
  const error: unknown = await tail.run(new AbortController().signal).catch((reason: unknown) => reason);
  const newest = Math.max(
    ...saved.flatMap(({ ids, verified }) => [...ids.map(([id]) => Number(id)), (verified ?? 0) / 1_000]),
  );
  return { error, writes, last: Number(written.at(-1)), newest, notices };
}

const unfit = new Failure('network', 'the store answered with an error', { code: 'STORE_UNFIT' });

test.each([
  ['later', () => Promise.reject(unfit)],
  [
    'at once',
    () => {
      throw unfit;
    },
  ],
])(
  'after a write that fails %s, nothing is written, and the checkpoint does not include its posts',
  async (_, fail) => {
    const { error, writes, last, newest, notices } = await runFailing(fail);
    expect(error).toBe(unfit);
    expect(writes).toBe(3);
    expect(newest).toBe(last);
    expect(notices.at(-1)).toMatchObject({ kind: 'end', summary: { gaps: [], verified: null } });
  },
);
