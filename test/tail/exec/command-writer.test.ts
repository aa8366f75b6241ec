import { describe, expect, test } from 'vitest';
import { CommandWriter } from '../../../src/tail/exec/command-writer.ts';
import type { Batch, Delivery } from '../../../src/tail/exec/delivery.ts';
import type { TailRow } from '../../../src/tail/post-row.ts';
import { virtualClock } from '../../core/virtual-clock.ts';

const LINGER_MS = 1_000;
const rowsOf = (...ids: string[]): TailRow[] =>
  ids.map((id) => ({ id, at: 0, raw: null, record: { id } }));

interface Asked {
  readonly batch?: number;
  readonly forgetful?: boolean;
  readonly lineBytes?: number;
}

/** A writer whose batches the test delivers, one after another. */
function open({ batch = 2, forgetful = false, lineBytes = 1 }: Asked = {}) {
  const clock = virtualClock();
  const stop = new AbortController();
  const started: string[][] = [];
  const open: ((outcome: Delivery | Error) => void)[] = [];
  const writer = new CommandWriter({
    clock,
    encode: () => Buffer.alloc(lineBytes),
    deliver: ({ rows }: Batch) =>
      new Promise((resolve, reject) => {
        started.push(rows.map(({ id }) => id));
        open.push((outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)));
      }),
    batch,
    lingerMs: LINGER_MS,
    forgetful,
    stop: stop.signal,
  });
  /** Ends the delivery in progress. */
  const answer = async (outcome: Delivery | Error = 'acknowledged') => {
    open.shift()?.(outcome);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { writer, clock, stop, started, answer };
}

describe('a writer that hands rows to a command', () => {
  test('begins a full batch at once, one at a time, and counts only what was acknowledged', async () => {
    const { writer, started, answer } = open();
    let changes = 0;
    const delivered = writer.delivered(() => changes++);
    void writer.write(rowsOf('a', 'b', 'c', 'd'));
    expect(started).toEqual([['a', 'b']]);
    expect(delivered()).toBe(0);
    await answer();
    expect(started).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    expect(delivered()).toBe(2);
    expect(changes).toBe(1);
  });

  test('lets an incomplete batch wait for more rows, but not for ever', async () => {
    const { writer, clock, started } = open();
    void writer.write(rowsOf('a'));
    expect(started).toEqual([]);
    await clock.sleep(LINGER_MS + 1);
    expect(started).toEqual([['a']]);
  });

  test('accepts no more rows while a whole batch waits', async () => {
    const { writer, answer } = open();
    void writer.write(rowsOf('a', 'b'));
    const full = writer.write(rowsOf('c', 'd'));
    expect(full).toBeInstanceOf(Promise);
    await answer();
    expect(await full).toBe(true);
  });

  test('makes a batch of one row that is larger than a batch may be', () => {
    const { writer, started } = open({ batch: 10, lineBytes: 64 * 1024 * 1024 });
    void writer.write(rowsOf('a', 'b'));
    expect(started).toEqual([['a']]);
  });

  test('flushes when all rows are acknowledged, or are dead letters', async () => {
    const { writer, answer } = open();
    void writer.write(rowsOf('a', 'b', 'c', 'd'));
    const flushed = writer.flush();
    await answer('dead');
    await answer();
    expect(await flushed).toBe(true);
  });

  test('leaves the batches after the current one to a later run, if that knows of them', async () => {
    const { writer, stop, started, answer } = open();
    void writer.write(rowsOf('a', 'b', 'c', 'd'));
    stop.abort();
    const ended = writer.end();
    await answer();
    await ended;
    expect(started).toEqual([['a', 'b']]);
    expect(await writer.flush()).toBe(false);
  });

  test('hands everything over after a stop, if no later run knows of it', async () => {
    const { writer, stop, started, answer } = open({ forgetful: true });
    void writer.write(rowsOf('a', 'b', 'c'));
    stop.abort();
    const ended = writer.end();
    await answer();
    await answer();
    await ended;
    expect(started).toEqual([['a', 'b'], ['c']]);
  });

  test('fails with the batch that could not be saved, and hands nothing more over', async () => {
    const { writer, started, answer } = open();
    const written = Promise.resolve(writer.write(rowsOf('a', 'b', 'c', 'd')));
    const failed = expect(written).rejects.toThrow('no folder for dead letters');
    await answer(new Error('no folder for dead letters'));
    await failed;
    await expect(writer.flush()).rejects.toThrow('no folder for dead letters');
    expect(() => writer.write(rowsOf('e'))).toThrow('no folder for dead letters');
    await expect(writer.end()).rejects.toThrow('no folder for dead letters');
    expect(started).toEqual([['a', 'b']]);
  });
});
