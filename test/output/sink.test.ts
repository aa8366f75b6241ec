import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createSink, outputClosed } from '../../src/output/sink.ts';

/** A stream that accepts nothing until it is released. */
function stalled(highWaterMark = 16_384) {
  const waiting: (() => void)[] = [];
  const taken: Buffer[] = [];
  const stream = new Writable({
    highWaterMark,
    write(chunk: Buffer, _encoding, done) {
      taken.push(chunk);
      waiting.push(done);
    },
  });
  const release = () => {
    waiting.shift()?.();
  };
  return { stream, taken, release, waiting };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a sink', () => {
  it('keeps the order of text and bytes, small and large', async () => {
    const through = new PassThrough();
    const read = through.toArray();
    const sink = createSink(through, { batch: 64 });
    let expected = '';
    for (let index = 0; index < 200; index++) {
      const text = `${`${index}é🚀`.repeat(index % 17)}\n`;
      expected += text;
      await sink.write(index % 2 ? text : Buffer.from(text));
    }
    await sink.finish('complete');
    through.end();
    expect(Buffer.concat(await read).toString()).toBe(expected);
  });

  it('never reuses memory that a stream was given', async () => {
    const { stream, taken, waiting } = stalled(1);
    const sink = createSink(stream, { batch: 8, live: true });
    void sink.write('aaaa');
    await turn();
    void sink.write('bbbb');
    void sink.write('cccccc');
    while (waiting.length > 0) {
      waiting.shift()?.();
      await turn();
    }
    await sink.flush();
    expect(taken.map(String).join('|')).toBe('aaaa|bbbb|cccccc');
  });

  it("reuses memory only after a descriptor's stream has written it", async () => {
    const given: Buffer[] = [];
    let out = '';
    const stream = Object.assign(
      new Writable({
        write(bytes: Buffer, _encoding, done) {
          given.push(bytes);
          setImmediate(() => {
            out += bytes.toString();
            done();
          });
        },
      }),
      { fd: -1 },
    );
    const sink = createSink(stream, { batch: 1_000, live: true });
    let all = '';
    for (let index = 0; index < 2_000; index++) {
      const line = `line ${index}\n`;
      all += line;
      sink.write(line);
      if (index % 300 === 0) await turn();
    }
    await sink.finish('complete');
    expect(out).toBe(all);
    const chunks = given.map(({ buffer }) => buffer).filter(({ byteLength }) => byteLength === 1_000);
    expect(new Set(chunks).size).toBeLessThan(chunks.length);
  });

  it('waits for a stalled reader with bounded memory', async () => {
    const { stream, taken, waiting } = stalled();
    const sink = createSink(stream, { batch: 1024 });
    let written = 0;
    let stopped = false;
    const writer = (async () => {
      while (written < 1_000_000) {
        const wait = sink.write('x'.repeat(100));
        written += 100;
        if (wait) {
          stopped = true;
          await wait;
        }
      }
      await sink.flush();
    })();
    await turn();
    expect(stopped).toBe(true);
    expect(written).toBeLessThan(32_000);
    expect(stream.writableLength).toBeLessThan(32_000);
    while (taken.reduce((sum, chunk) => sum + chunk.length, 0) < 1_000_000 || waiting.length > 0) {
      waiting.shift()?.();
      await turn();
    }
    await writer;
    expect(taken.reduce((sum, chunk) => sum + chunk.length, 0)).toBe(1_000_000);
  });

  it('combines live records if the reader is slow', async () => {
    const { stream, taken, release } = stalled();
    const sink = createSink(stream, { live: true });
    for (let index = 0; index < 10; index++) {
      void sink.write(`${index}\n`);
      await turn();
    }
    expect(taken.map(String)).toEqual(['0\n']);
    release();
    await turn();
    expect(taken.map(String)).toEqual(['0\n', '1\n2\n3\n4\n5\n6\n7\n8\n9\n']);
  });

  it('ends cleanly if the stream was destroyed, and releases a waiting writer', async () => {
    const { stream } = stalled(1);
    const sink = createSink(stream, { batch: 4 });
    const wait = sink.write('hello world');
    const flushed = sink.flush();
    stream.destroy();
    await wait;
    await flushed;
    expect(sink.closed.reason).toBe(outputClosed);
  });
});
