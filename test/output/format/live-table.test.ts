import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createPrinter } from '../../../src/output/format/printer.ts';
import { createSink } from '../../../src/output/sink.ts';
import type { View } from '../../../src/output/view.ts';

interface Post {
  readonly at: number;
  readonly text: string;
  readonly usd?: number;
}

const view: View<Post> = {
  columns: [
    { title: 'at', kind: 'time', value: ({ at }) => at },
    { title: 'text', kind: 'text', value: ({ text }) => text, wrap: true, below: true },
  ],
  fields: () => ['at', 'text'],
  empty: '',
};

const NOON = Date.UTC(2026, 0, 2, 12);

async function liveTable(shown: View<Post> = view, live = true) {
  const terminal = { width: 40, height: 14 };
  const stream = new PassThrough();
  const text = stream.setEncoding('utf8').toArray();
  const sink = createSink(stream);
  const printer = await createPrinter<Post>({
    ...{ sink, view: shown, format: 'table', live, unicode: true, utc: true },
    now: () => NOON,
    size: () => terminal,
  });
  let posts = 0;
  return {
    terminal,
    async post(at = NOON, usd = 1) {
      await printer.write({ at, text: `post ${++posts}`, usd });
      await new Promise((resolve) => setImmediate(resolve));
    },
    async lines() {
      await printer.end();
      stream.end();
      return (await text).join('').split('\n');
    },
  };
}

const isHead = (line: string) => line.startsWith('      at (UTC)');

describe('a live table', () => {
  test('repeats its header when it has scrolled off the screen', async () => {
    const table = await liveTable();
    for (let count = 0; count < 20; count++) await table.post();
    const lines = await table.lines();
    const heads = lines.flatMap((line, at) => (isHead(line) ? [at] : []));
    expect(heads.length).toBeGreaterThan(1);
    for (const [index, at] of heads.entries()) {
      const next = heads[index + 1] ?? lines.length;
      expect(next - at).toBeLessThanOrEqual(table.terminal.height + 2);
    }
    expect(lines.filter((line) => line.includes('post '))).toHaveLength(20);
  });

  test('uses the new width of the terminal after a resize', async () => {
    const table = await liveTable();
    await table.post();
    table.terminal.width = 120;
    await table.post();
    await table.post();
    const lines = await table.lines();
    expect(lines.filter(isHead)).toHaveLength(2);
    expect(lines.slice(0, 4).join('\n')).toMatch(/^ +at \(UTC\)\n─+\n01-02 12:00:00\n {2}post 1$/);
    expect(lines).toContain('01-02 12:00:00  post 2');
    expect(lines).toContain('01-02 12:00:00  post 3');
  });

  test.each([true, false])(
    'repeats its header for a number wider than its column, live: %s',
    async (live) => {
      const usd = { title: 'usd', kind: 'usd', value: (post: Post) => post.usd } as const;
      const table = await liveTable({ ...view, columns: [usd] }, live);
      for (let count = 0; count < 200; count++) await table.post();
      await table.post(NOON, 1_234_567_890);
      await table.post(NOON, 1_234_567_890);
      expect((await table.lines()).slice(-6)).toEqual([
        '',
        '           usd',
        '──────────────',
        '$1,234,567,890',
        '$1,234,567,890',
        '',
      ]);
    },
  );
});
