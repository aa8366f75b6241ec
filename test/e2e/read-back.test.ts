import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDesk } from './harness.ts';

const PLENTY = { ratePerMinute: 1_000_000, unmetered: true } as const;
const FORMATS = ['csv', 'tsv', 'ndjson'] as const;
/** A handle that starts like a formula is disarmed in CSV and TSV. */
const SUBJECTS = ['@mira', '@juno', '@solwolf'];

/** What a command writes, and the column of it that names subjects. */
const writers: readonly (readonly [words: readonly string[], column: string])[] = [
  [['whois', ...SUBJECTS], 'subject'],
  [['resolve', ...SUBJECTS, '--no-wait'], 'subject'],
  [['pnl', ...SUBJECTS, '--window', '7d'], 'subject'],
  [['thesis', 'list', '--user', 'mira', '--limit', '3'], 'authorHandle'],
];

const readers: readonly (readonly [words: readonly string[], file: string])[] = [
  [['whois'], '--file'],
  [['resolve', '--no-wait'], '--file'],
  [['pnl', '--window', '7d'], '--file'],
  [['thesis', 'list', '--limit', '3'], '--users'],
  [['thesis', 'tail', '--no-follow', '--backfill', '3'], '--users'],
];

describe.each(writers)('what trdr %j writes', (written, column) => {
  test.each(FORMATS)(
    'as %s names the same subjects for every command that reads it',
    async (format) => {
      const { home, run } = await openDesk(PLENTY);
      const path = join(home.path, `out.${format}`);
      await run([...written, '--yes', '--out', path]);
      const text = readFileSync(path, 'utf8');
      // Without a file, the subjects are these.
      const plain = [...new Set([...text.matchAll(/mira|juno|solwolf/g)].map(([name]) => name))];
      for (const [words, flag] of readers) {
        const list = join(home.path, 'list.txt');
        writeFileSync(list, plain.map((name) => `@${name}\n`).join(''));
        const ids = async (file: string, ...more: readonly string[]) => {
          const ran = await run([...words, '--yes', flag, file, ...more, '-o', 'ndjson']);
          expect(ran.exitCode, ran.stderr).toBe(0);
          return [...new Set(ran.records().map(({ id, handle }) => id ?? handle))].sort();
        };
        expect([words, await ids(path, '--column', column)]).toEqual([words, await ids(list)]);
      }
    },
  );
});

test('a list without a header may have disarmed handles', async () => {
  const { home, run } = await openDesk(PLENTY);
  const path = join(home.path, 'list.txt');
  writeFileSync(path, "'@mira\n'@juno\n");
  const ran = await run(['whois', '--file', path]);
  expect(ran.records()).toMatchObject([{ subject: '@mira' }, { subject: '@juno' }]);
});
