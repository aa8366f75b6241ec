import { describe, expect, test } from 'vitest';
import { createTailWriter } from '../../../src/tail/output/writer.ts';
import type { TailRow } from '../../../src/tail/row.ts';

const rows = (...ids: string[]): TailRow[] => ids.map((id) => ({ id, at: 0, record: { id }, raw: null }));

/** A writer to a sink whose writes are completed by the test. */
function openWriter() {
  const written: string[][] = [];
  let wakes = 0;
  let end: { with: (more: boolean) => void; fail: (error: Error) => void } | undefined;
  const writer = createTailWriter(
    {
      write(batch) {
        written.push(batch.map(({ id }) => id));
        return new Promise((resolve, reject) => {
          end = { with: resolve, fail: reject };
        });
      },
      flush: async () => true,
    },
    () => {
      wakes++;
    },
    () => 0,
  );
  const done = async (more: boolean) => {
    end?.with(more);
    await writer.settled();
  };
  const fail = async (error: Error) => {
    end?.fail(error);
    await writer.settled();
  };
  return { writer, written, done, fail, wakes: () => wakes };
}

describe('the tail writer', () => {
  test('is busy until a write completes, then wakes the tail and counts the rows', async () => {
    const { writer, written, done, wakes } = openWriter();
    expect(writer.busy()).toBe(false);
    writer.push(rows('a', 'b'));
    expect(writer.busy()).toBe(true);
    expect(writer.rows).toBe(0);
    expect(wakes()).toBe(0);
    await done(true);
    expect(wakes()).toBe(1);
    expect(writer.busy()).toBe(false);
    expect(writer.rows).toBe(2);
    writer.push(rows('c'));
    await done(true);
    expect(writer.busy()).toBe(false);
    expect(writer.busy()).toBe(false);
    expect(writer.rows).toBe(3);
    expect(writer.closed).toBe(false);
    expect(written).toEqual([['a', 'b'], ['c']]);
  });

  test('is not busy after synchronous writes, and detects a closed reader', () => {
    const answers = [true, true, false];
    const writer = createTailWriter(
      { write: () => answers.shift() ?? false, flush: async () => true },
      () => expect.fail('nothing needs to be awaited'),
      () => 0,
    );
    writer.push(rows('a', 'b'));
    writer.push(rows('c'));
    expect([writer.busy(), writer.rows, writer.closed]).toEqual([false, 3, false]);
    writer.push(rows('d'));
    expect([writer.busy(), writer.rows, writer.closed]).toEqual([false, 3, true]);
  });

  test('settles after the current write, or immediately without one', async () => {
    const { writer, done } = openWriter();
    await writer.settled();
    writer.push(rows('a'));
    let over = false;
    const settled = writer.settled().then(() => {
      over = true;
    });
    await new Promise(setImmediate);
    expect(over).toBe(false);
    await done(true);
    await settled;
  });

  test('does not write an empty batch', () => {
    const { writer, written } = openWriter();
    writer.push([]);
    expect(writer.busy()).toBe(false);
    expect(written).toEqual([]);
  });

  test('is closed when the reader closes, and does not count the rows', async () => {
    const { writer, done } = openWriter();
    writer.push(rows('a'));
    await done(false);
    expect(writer.busy()).toBe(false);
    expect(writer.closed).toBe(true);
    expect(writer.rows).toBe(0);
  });

  test('throws the error of a failed write once', async () => {
    const { writer, fail } = openWriter();
    writer.push(rows('a'));
    const full = new Error('the disk is full');
    await fail(full);
    expect(writer.failed).toBe(false);
    expect(() => writer.busy()).toThrow(full);
    expect(writer.busy()).toBe(false);
    expect(writer.failed).toBe(true);
    expect(writer.rows).toBe(0);
  });
});
