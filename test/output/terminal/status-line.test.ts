import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createSink } from '../../../src/output/sink.ts';
import { createStatusLine } from '../../../src/output/terminal/status-line.ts';

const onTerminal = (columns: number, enabled = true) => {
  const stream = Object.assign(new PassThrough(), { columns });
  return {
    stream,
    status: createStatusLine(stream, enabled, true),
    // Some versions of Node return one write at a time.
    said(): string {
      const part: unknown = stream.read();
      return part === null ? '' : `${part}${this.said()}`;
    },
  };
};

describe('the status line', () => {
  it('leaves room for an echoed ^C, so that it can be cleared', () => {
    const shown = onTerminal(40);
    shown.status.show('x'.repeat(100));
    const [line = ''] = shown.said().split('\x1b[2K').slice(1);
    expect(`${line}^C^C`.length).toBeLessThan(40);
    expect(line.endsWith('…')).toBe(true);
  });

  it('filters its text, and is not shown if disabled', () => {
    const shown = onTerminal(40);
    shown.status.show('a\x1b[31mb\nc');
    expect(shown.said().replace('\r\x1b[2K', '')).not.toMatch(/[\x1b\n]/);
    const quiet = onTerminal(40, false);
    quiet.status.show('live');
    expect(quiet.said()).toBe('');
  });

  it('is cleared right before rows are printed, even if it was shown after they were written to the sink', async () => {
    const shown = onTerminal(40);
    const { status, stream } = shown;
    const sink = createSink(stream, { live: true, beforeWrite: status.hide });
    sink.write('row\n');
    status.show('live');
    await sink.flush();
    expect(shown.said()).toBe('\r\x1b[2Klive\r\x1b[2Krow\n');
  });
});
