import { describe, expect, test } from 'vitest';
import { openPromise } from '../../../src/base/calls.ts';
import { Failure } from '../../../src/base/failure.ts';
import type { Records } from '../../../src/output/format/printing.ts';
import { outputClosed } from '../../../src/output/sink.ts';
import { PrintWriter } from '../../../src/tail/output/print-writer.ts';
import type { PostFields, TailRow } from '../../../src/tail/post-row.ts';
import { unparsed } from '../fakes.ts';

const frameOf = (id: string) => unparsed(id, 0, Buffer.from(id));
const pageRowOf = (id: string): TailRow => ({ id, at: 0, raw: null, record: { id } });

/** A printer of which the test decides what the operating system has received, and when the reader leaves. */
function open({ isRaw = true } = {}) {
  const printed: string[] = [];
  const closed = new AbortController();
  const state = { written: 0, hidden: 0 };
  const pause: { open: Promise<void> | undefined } = { open: undefined };
  const writeRaw = (json: Uint8Array) => {
    printed.push(`${Buffer.from(json)}`);
  };
  const printer: Records<PostFields> = {
    write(record) {
      printed.push(String(record['id']));
    },
    ...(isRaw && { writeRaw }),
    flush: async () => {},
    end: async () => {
      printed.push('end');
    },
    closed: closed.signal,
    progress: () => ({ accepted: printed.length, written: state.written }),
  };
  const writer = new PrintWriter(printer, { hide: () => state.hidden++, paused: () => pause.open });
  return { writer, printed, closed, state, pause };
}

describe('a writer that prints', () => {
  test('writes the bytes of frames without parsing them, and the records of pages', () => {
    const { writer, printed } = open();
    expect(writer.write([frameOf('a'), pageRowOf('b'), frameOf('c')])).toBe(true);
    expect(printed).toEqual(['a', 'b', 'c']);
  });

  test('parses the record of a frame only for a format that needs it', () => {
    const { writer } = open({ isRaw: false });
    expect(() => writer.write([frameOf('a')])).toThrow('the record was parsed');
  });

  test('knows how many rows the operating system has not received', () => {
    const { writer, state } = open();
    writer.write([frameOf('a'), frameOf('b')]);
    writer.write([frameOf('c')]);
    expect(writer.pending()).toBe(3);
    state.written = 2;
    expect(writer.pending()).toBe(1);
    state.written = 3;
    expect(writer.pending()).toBe(0);
  });

  test('hides the status line, and waits while a question is open', async () => {
    const { writer, printed, state, pause } = open();
    const question = openPromise();
    pause.open = question.promise;
    const written = writer.write([frameOf('a')]);
    expect(printed).toEqual([]);
    pause.open = undefined;
    question.resolve();
    expect(await written).toBe(true);
    expect(printed).toEqual(['a']);
    expect(state.hidden).toBe(1);
  });

  test('says that its reader has left, and does not fail', async () => {
    const { writer, printed, closed } = open();
    closed.abort(outputClosed);
    expect(writer.write([frameOf('a')])).toBe(false);
    expect(await writer.flush()).toBe(false);
    await writer.close();
    expect(printed).toEqual([]);
  });

  test('throws why a write has failed', async () => {
    const { writer, closed } = open();
    const full = new Failure('local', 'the disk is full', { code: 'DISK_FULL' });
    closed.abort(full);
    expect(() => writer.write([frameOf('a')])).toThrow(full);
    await expect(writer.flush()).rejects.toThrow(full);
  });
});
