import { describe, expect, test } from 'vitest';
import { createTailWriter } from '../../../src/tail/output/writer.ts';
import type { TailRow } from '../../../src/tail/row.ts';

const rows = (...ids: string[]): TailRow[] => ids.map((id) => ({ id, at: 0, record: { id }, raw: null }));

/** An outlet over a sink whose writes end when the test says so. */
function opened() {
  const written: string[][] = [];
  let rings = 0;
  let end: { with: (more: boolean) => void; fail: (error: Error) => void } | undefined;
  const outlet = createTailWriter(
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
      rings++;
    },
    () => 0,
  );
  const done = async (more: boolean) => {
    end?.with(more);
    await outlet.settled();
  };
  const fail = async (error: Error) => {
    end?.fail(error);
    await outlet.settled();
  };
  return { outlet, written, done, fail, rings: () => rings };
}

describe('the outlet', () => {
  test('is busy while it writes, rings when that is over, and counts what was written', async () => {
    const { outlet, written, done, rings } = opened();
    expect(outlet.busy()).toBe(false);
    outlet.push(rows('a', 'b'));
    expect(outlet.busy()).toBe(true);
    expect(outlet.rows).toBe(0);
    expect(rings()).toBe(0);
    await done(true);
    expect(rings()).toBe(1);
    expect(outlet.busy()).toBe(false);
    expect(outlet.rows).toBe(2);
    outlet.push(rows('c'));
    await done(true);
    expect(outlet.busy()).toBe(false);
    expect(outlet.busy()).toBe(false);
    expect(outlet.rows).toBe(3);
    expect(outlet.closed).toBe(false);
    expect(written).toEqual([['a', 'b'], ['c']]);
  });

  test('is not busy where there was room at once, and takes the reader that has gone at its word', () => {
    const answers = [true, true, false];
    const outlet = createTailWriter(
      { write: () => answers.shift() ?? false, flush: async () => true },
      () => expect.fail('nothing is to be waited for'),
      () => 0,
    );
    outlet.push(rows('a', 'b'));
    outlet.push(rows('c'));
    expect([outlet.busy(), outlet.rows, outlet.closed]).toEqual([false, 3, false]);
    outlet.push(rows('d'));
    expect([outlet.busy(), outlet.rows, outlet.closed]).toEqual([false, 3, true]);
  });

  test('settles with the write under way, and at once where there is none', async () => {
    const { outlet, done } = opened();
    await outlet.settled();
    outlet.push(rows('a'));
    let over = false;
    const settled = outlet.settled().then(() => {
      over = true;
    });
    await new Promise(setImmediate);
    expect(over).toBe(false);
    await done(true);
    await settled;
  });

  test('does not begin to write nothing', () => {
    const { outlet, written } = opened();
    outlet.push([]);
    expect(outlet.busy()).toBe(false);
    expect(written).toEqual([]);
  });

  test('is closed when the reader has gone, and counts nothing for it', async () => {
    const { outlet, done } = opened();
    outlet.push(rows('a'));
    await done(false);
    expect(outlet.busy()).toBe(false);
    expect(outlet.closed).toBe(true);
    expect(outlet.rows).toBe(0);
  });

  test('throws when a write failed, once', async () => {
    const { outlet, fail } = opened();
    outlet.push(rows('a'));
    const full = new Error('no room on the disk');
    await fail(full);
    expect(() => outlet.busy()).toThrow(full);
    expect(outlet.busy()).toBe(false);
    expect(outlet.rows).toBe(0);
  });
});
