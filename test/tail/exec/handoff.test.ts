import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/base/clock.ts';
import { Failure } from '../../../src/base/failure.ts';
import type { Batch, CommandEnd, HandoffNotice } from '../../../src/tail/exec/batch.ts';
import { createDelivery } from '../../../src/tail/exec/deliver.ts';
import { createHandoff } from '../../../src/tail/exec/handoff.ts';
import { createHandoffMeter } from '../../../src/tail/exec/handoff-meter.ts';
import type { TailRow } from '../../../src/tail/row.ts';
import { clockOn, createScheduler } from '../../sim/scheduler.ts';

const rows = (...ids: readonly string[]): TailRow[] =>
  ids.map((id) => ({ id, at: 0, record: { id }, raw: null }));
const many = (count: number) => rows(...Array.from({ length: count }, (_, i) => `${i}`));
const idsOf = ({ rows: list }: Batch) => list.map(({ id }) => id);

interface Given {
  readonly batch?: number;
  readonly lingerMs?: number;
  readonly tries?: number;
  readonly forgetful?: boolean;
  /** How each attempt ends, and when. */
  readonly run?: (batch: Batch, attempt: number, clock: Clock) => Promise<CommandEnd>;
  readonly deadLetter?: (batch: Batch) => void;
}

function opened(given: Given = {}) {
  const { batch = 3, lingerMs = 1_000, tries = 3, forgetful = false } = given;
  const scheduler = createScheduler();
  const clock = clockOn(
    scheduler,
    () => 0,
    () => true,
  );
  const stop = new AbortController();
  const attempts: string[][] = [];
  const notices: HandoffNotice[] = [];
  const dead: string[][] = [];
  const acknowledged: (readonly [string[], number])[] = [];
  const deliver = createDelivery(
    {
      clock,
      random: () => 0.5,
      run(each, attempt) {
        attempts.push(idsOf(each));
        return given.run?.(each, attempt, clock) ?? Promise.resolve({ ok: true });
      },
      deadLetter: given.deadLetter ?? ((each) => void dead.push(idsOf(each))),
      notify: (notice) => notices.push(notice),
    },
    { tries, forgetful },
  );
  const handoff = createHandoff(
    {
      clock,
      encode: ({ id }: TailRow) => Buffer.from(`${id}\n`),
      async deliver(each, signal) {
        const outcome = await deliver(each, signal);
        const end = (acknowledged.at(-1)?.[1] ?? 0) + each.rows.length;
        if (outcome !== 'left') acknowledged.push([idsOf(each), end]);
        return outcome;
      },
    },
    { batch, lingerMs, forgetful, stop: stop.signal },
  );
  /** Lets virtual time pass. */
  const pass = async (ms: number) => {
    const until = scheduler.now + ms;
    let over = false;
    scheduler.at(until, () => {
      over = true;
    });
    while (!over) {
      await new Promise(setImmediate);
      scheduler.step();
    }
    await new Promise(setImmediate);
  };
  return { handoff, attempts, notices, dead, acknowledged, stop, pass };
}

const fails = async (): Promise<CommandEnd> => ({ ok: false, why: 'exit code 1', code: 1 });

describe('the handoff', () => {
  it('hands a full batch over at once, and the rest after the linger time', async () => {
    const { handoff, attempts, pass } = opened();
    expect(handoff.write(rows('a', 'b', 'c', 'd'))).toBe(true);
    await pass(999);
    expect(attempts).toEqual([['a', 'b', 'c']]);
    await pass(2);
    expect(attempts).toEqual([['a', 'b', 'c'], ['d']]);
  });

  it('makes the writer wait while a batch is in progress and the next one is full', async () => {
    const { handoff, attempts, pass } = opened({
      run: async (_, __, clock) => {
        await clock.sleep(10_000);
        return { ok: true };
      },
    });
    expect(handoff.write(rows('a', 'b', 'c'))).toBe(true);
    expect(handoff.write(rows('d', 'e'))).toBe(true);
    const full = handoff.write(rows('f', 'g'));
    expect(full).toBeInstanceOf(Promise);
    await pass(10_001);
    expect(await full).toBe(true);
    expect(attempts).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
    ]);
  });

  it('runs one command at a time, in order, and retries the same batch', async () => {
    const { handoff, attempts, acknowledged, notices, pass } = opened({
      batch: 2,
      run: async (batch, attempt) =>
        batch.number === 1 && attempt < 3 ? { ok: false, why: 'exit code 22', code: 22 } : { ok: true },
    });
    void handoff.write(rows('a', 'b', 'c', 'd'));
    await pass(10_000);
    expect(attempts).toEqual([
      ['a', 'b'],
      ['a', 'b'],
      ['a', 'b'],
      ['c', 'd'],
    ]);
    expect(acknowledged).toEqual([
      [['a', 'b'], 2],
      [['c', 'd'], 4],
    ]);
    expect(notices.map(({ kind }) => kind)).toEqual(['failed', 'failed', 'recovered']);
  });

  it('puts a batch into the dead-letter file after the last attempt, and continues', async () => {
    const { handoff, dead, acknowledged, pass } = opened({
      batch: 1,
      run: async ({ number }) => (number === 2 ? fails() : { ok: true }),
    });
    void handoff.write(rows('a', 'b', 'c'));
    await pass(60_000);
    expect(dead).toEqual([['b']]);
    expect(acknowledged.map(([ids]) => ids)).toEqual([['a'], ['b'], ['c']]);
    expect(handoff.counts).toEqual({ batches: 2, acknowledged: 2, dead: 1, left: 0 });
  });

  it('waits longer after each failure, also across batches', async () => {
    const { handoff, notices, pass } = opened({ batch: 1, tries: 5, run: fails });
    void handoff.write(rows('a', 'b'));
    await pass(3_600_000);
    const waits = notices.flatMap((notice) => (notice.kind === 'failed' ? [notice.waitMs] : []));
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  it('flushes once everything written so far is acknowledged, without waiting for what follows', async () => {
    const { handoff, pass } = opened({ lingerMs: 5_000 });
    let flushed: boolean | undefined;
    void handoff.write(rows('a'));
    void handoff.flush().then((whole) => {
      flushed = whole;
    });
    await pass(4_000);
    expect(flushed).toBe(undefined);
    await pass(1_001);
    expect(flushed).toBe(true);
  });

  it('stops after the running command, and leaves the rest to the next run', async () => {
    const { handoff, attempts, acknowledged, stop, pass } = opened({
      batch: 1,
      run: async (_, __, clock) => {
        await clock.sleep(3_000);
        return { ok: true };
      },
    });
    const written = handoff.write(rows('a', 'b'));
    const flushed = handoff.flush();
    await pass(1_000);
    stop.abort();
    const end = handoff.end();
    await pass(2_001);
    await end;
    expect([await written, await flushed]).toEqual([true, false]);
    expect(attempts).toEqual([['a']]);
    expect(acknowledged).toEqual([[['a'], 1]]);
    expect(handoff.counts.left).toBe(1);
  });

  it('gives up a retry when it is stopped, and does not acknowledge the batch', async () => {
    const { handoff, acknowledged, dead, stop, pass } = opened({
      run: fails,
      tries: Number.POSITIVE_INFINITY,
    });
    void handoff.write(many(3));
    await pass(100);
    stop.abort();
    await handoff.end();
    expect([acknowledged, dead, handoff.counts.left]).toEqual([[], [], 3]);
  });

  it('without a checkpoint hands the rest over once when it is stopped, and saves batches that fail', async () => {
    const { handoff, attempts, dead, stop, pass } = opened({
      batch: 2,
      forgetful: true,
      tries: Number.POSITIVE_INFINITY,
      run: async ({ number }, _, clock) => {
        await clock.sleep(1_000);
        return number === 2 ? fails() : { ok: true };
      },
    });
    void handoff.write(rows('a', 'b', 'c', 'd', 'e'));
    await pass(100);
    stop.abort();
    const end = handoff.end();
    await pass(3_000);
    await end;
    expect(attempts).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect([dead, handoff.counts.left]).toEqual([[['c', 'd']], 0]);
  });

  it('ends the run if a dead letter cannot be saved', async () => {
    const full = new Failure('local', 'the disk is full', { code: 'ENOSPC' });
    const { handoff, acknowledged, pass } = opened({
      tries: 1,
      run: fails,
      deadLetter() {
        throw full;
      },
    });
    void handoff.write(many(3));
    await pass(10);
    await expect(handoff.flush()).rejects.toBe(full);
    await expect(handoff.end()).rejects.toBe(full);
    expect(() => handoff.write(rows('x'))).toThrow(full);
    expect(acknowledged).toEqual([]);
  });

  it('ends a batch at eight megabytes', async () => {
    const scheduler = createScheduler();
    const sizes: number[] = [];
    const handoff = createHandoff(
      {
        clock: clockOn(
          scheduler,
          () => 0,
          () => true,
        ),
        encode: () => Buffer.alloc(3 * 1024 * 1024),
        async deliver({ rows: list }) {
          sizes.push(list.length);
          return 'acknowledged';
        },
      },
      { batch: 100, lingerMs: 0, forgetful: false, stop: new AbortController().signal },
    );
    void handoff.write(many(7));
    await handoff.end();
    expect(sizes).toEqual([2, 2, 2, 1]);
  });
});

describe('the counts for monitoring', () => {
  const row = (id: string, at: number | null) => ({ id, at, line: Buffer.from(`${id}\n`) });
  const batch = (number: number, ...times: (number | null)[]): Batch => ({
    number,
    rows: times.map((at, i) => row(`${number}.${i}`, at)),
  });

  it('count accepted and dead batches, retries, and what is not acknowledged', () => {
    const meter = createHandoffMeter();
    expect(meter.health([])).toMatchObject({ batches: 0, pendingRows: 0, oldestAt: null, lastExit: null });
    const first = batch(1, 20, null, 10);
    meter.taken(first);
    meter.attempted(1, { ok: false, why: 'killed by SIGKILL', code: 137 });
    expect(meter.health([row('q', 5)])).toMatchObject({
      pendingRows: 4,
      oldestAt: 5,
      lastExit: 137,
      retries: 0,
    });
    meter.attempted(2, { ok: true });
    meter.delivered(first, 'acknowledged');
    expect(meter.health([])).toMatchObject({ batches: 1, rows: 3, retries: 1, pendingRows: 0, lastExit: 0 });
    const second = batch(2, null, null);
    meter.taken(second);
    expect(meter.health([])).toMatchObject({ pendingRows: 2, oldestAt: null });
    meter.delivered(second, 'dead');
    expect(meter.health([])).toMatchObject({ deadBatches: 1, deadRows: 2, pendingRows: 0, batches: 1 });
  });

  it('still count a batch that a stopped run did not deliver', () => {
    const meter = createHandoffMeter();
    meter.taken(batch(1, 7));
    meter.attempted(1, { ok: false, why: 'exit code 1', code: 1 });
    meter.delivered(batch(1, 7), 'left');
    expect(meter.health([])).toMatchObject({ pendingRows: 1, oldestAt: 7, batches: 0, deadBatches: 0 });
  });
});
