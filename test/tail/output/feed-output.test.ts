import { describe, expect, test } from 'vitest';
import { thesisConfluence } from '../../../src/tail/confluence.ts';
import { FeedOutput } from '../../../src/tail/output/feed-output.ts';
import { PrintWriter } from '../../../src/tail/output/print-writer.ts';
import { stagesOf } from '../../../src/tail/output/stages.ts';
import type { OutputPorts, Writer } from '../../../src/tail/ports.ts';
import type { Position } from '../../../src/tail/position.ts';
import type { TailRow } from '../../../src/tail/post-row.ts';
import { virtualClock } from '../../core/virtual-clock.ts';
import { unparsed } from '../fakes.ts';

const NOW = Date.UTC(2026, 0, 1);
const postOf = (number: number): TailRow => ({
  id: `p${number}`,
  at: NOW + number,
  raw: null,
  record: { id: `p${number}`, tokenAddress: 'A', authorId: `a${number}` },
});

/** An output whose rows are in its file when they are let through. */
function open(more: Partial<OutputPorts> = {}, given: Partial<Writer> = {}) {
  const written: string[] = [];
  const inFile: string[] = [];
  let release = () => {};
  const writer: Writer = {
    write(rows) {
      written.push(...rows.map(({ id }) => id));
      return true;
    },
    flush: () =>
      new Promise((resolve) => {
        release = () => {
          inFile.splice(0, inFile.length, ...written);
          resolve(true);
        };
      }),
    ...(!given.delivered && { place: () => ({ dev: '1', ino: '1', offset: inFile.length }) }),
    ...given,
  };
  const known: string[] = [];
  const saved: Position[] = [];
  const output = new FeedOutput({
    writer,
    save: async (position) => void saved.push(position),
    ...more,
    clock: virtualClock(NOW),
    wake: () => {},
    take: () => ({
      feed: 'f',
      start: null,
      verified: null,
      lowest: null,
      ids: known.map((id) => [id, null] as const),
    }),
    isSafe: true,
  });
  const push = (number: number) => {
    known.push(`p${number}`);
    output.push([postOf(number)]);
  };
  return { output, push, written, saved, release: () => release() };
}

describe('an output', () => {
  test('takes the position of a file when its rows are there, and lets none in meanwhile', async () => {
    const { output, push, saved, release } = open();
    push(1);
    output.saveSoon();
    expect(output.step()).toBe(false);
    expect(output.isHolding).toBe(true);
    release();
    await expect.poll(() => output.step()).toBe(true);
    push(2);
    expect(saved).toMatchObject([{ ids: [['p1', null]], file: { offset: 1 } }]);
  });

  test('delivers rows for a source that waits only after the position was taken', async () => {
    const { output, push, written, saved, release } = open();
    push(1);
    output.saveSoon();
    output.step();
    const delivered = output.deliver([postOf(2)]);
    expect(written).toEqual(['p1']);
    release();
    expect(await delivered).toBe(true);
    expect([written, saved[0]?.file?.offset]).toEqual([['p1', 'p2'], 1]);
  });

  test('saves nothing at the end if the reader has left, or a write has failed', async () => {
    const left = open({}, { write: () => false });
    left.push(1);
    await left.output.finish();
    const failing = () => {
      throw new Error('no space');
    };
    const failed = open({}, { write: failing });
    expect(() => failed.push(1)).toThrow('no space');
    await failed.output.finish();
    expect([left.output.closed, left.saved, failed.output.failed, failed.saved]).toEqual([
      ...[true, []],
      ...[true, []],
    ]);
  });

  test('covers what a slow command has acknowledged, although the position has a state', async () => {
    let [received, acknowledged] = [0, 0];
    const { output, push, saved } = open(
      {
        stages: stagesOf({ cooldown: { field: 'id', withinMs: 1 } }, { fields: thesisConfluence }),
      },
      {
        write(rows) {
          received += rows.length;
          return true;
        },
        delivered: () => () => acknowledged,
        flush: async () => true,
      },
    );
    output.step();
    for (let number = 1; number <= 6; acknowledged = received - 1) {
      for (let many = Math.min(6, output.left); many > 0; many--) push(number++);
      await output.save();
    }
    expect(saved.at(-1)?.ids).toHaveLength(4);
    push(7);
    await output.save();
    push(8);
    acknowledged = received;
    await output.finish();
    expect(saved.at(-1)?.ids).toHaveLength(8);
  });

  test('passes on confluences, and ends after as many as were asked for', () => {
    const confluence = { authors: 2, withinMs: 1_000 };
    const stages = stagesOf({ confluence, count: 1 }, { fields: thesisConfluence });
    const { output, push, written } = open({ stages });
    push(1);
    expect([written, output.left]).toEqual([[], 1]);
    push(2);
    expect([written, output.left, output.rows]).toEqual([['p1'], 0, 2]);
  });
});

test('a printer of raw lines parses no record, and keeps its methods', () => {
  const lines: string[] = [];
  const printer = new (class {
    readonly closed = new AbortController().signal;
    write(): void {
      throw new Error('a record was printed');
    }
    writeRaw(json: Uint8Array): void {
      this.keep(Buffer.from(json).toString());
    }
    keep(line: string): void {
      lines.push(line);
    }
    async flush(): Promise<void> {}
    async end(): Promise<void> {}
  })();
  const row = unparsed('p', NOW, Buffer.from('{"id":"p"}'));
  expect(new PrintWriter(printer).write([row])).toBe(true);
  expect(lines).toEqual(['{"id":"p"}']);
});
