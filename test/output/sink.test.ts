import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createSink } from '../../src/output/sink.ts';

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
  it('never reuses memory that a stream was given', async () => {
    const { stream, taken, waiting } = stalled(1);
    const sink = createSink(stream, { live: true });
    const [a, b, c] = ['a', 'b', 'c'].map((letter) => letter.repeat(40_000));
    void sink.write(`${a}`);
    await turn();
    void sink.write(`${b}`);
    void sink.write(`${c}`);
    while (waiting.length > 0) {
      waiting.shift()?.();
      await turn();
    }
    await sink.flush();
    expect(taken.map(String)).toEqual([a, b, c]);
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
});
