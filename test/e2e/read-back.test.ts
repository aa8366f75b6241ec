import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { virtualClock } from '../core/virtual-clock.ts';
import { some } from '../repeats.ts';
import { openDesk } from './harness.ts';

/** What trdr prints in these formats can be read again. */
const formats = ['tsv', 'json', 'ndjson', 'csv'] as const;

/** Two traders whose handles a spreadsheet would run as formulas, unless an export disarms them. */
async function openTraders() {
  const desk = await openDesk({ rate: 0 });
  const { world, clock } = desk.sandbox;
  const posts = world.theses().slice(undefined, 100, clock.now())?.items ?? [];
  const authors = new Map(posts.map((post) => [post.authorId ?? '', post]));
  for (const [at, [id, post]] of [...authors].slice(0, 2).entries()) {
    const authorHandle = ['-dash', '-two.dots'][at] ?? '';
    world.rename(id, authorHandle);
    desk.sandbox.post({ ...post, id: `of-${id}`, authorHandle, platformCreatedAt: clock.now() });
  }
  return desk;
}

const SUBJECTS = ['@-dash', '@-two.dots', '@mira', '@nobodyhere'];
const LIST = ['thesis', 'list', '--user', '@-dash', '--user', '@-two.dots', '--limit', '30'];

/** Commands that write files with subjects, and the columns with them. */
const writers: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['whois', ['whois', ...SUBJECTS], ['subject', 'handle', 'id', 'solanaAddress', 'evmAddress']],
  ['pnl', ['pnl', ...SUBJECTS, '--yes', '--window', '7d'], ['subject', 'handle', 'wallet']],
  ['resolve', ['resolve', ...SUBJECTS, '--yes'], ['subject', 'handle', 'id']],
  ['thesis list', LIST, ['authorHandle', 'authorId']],
  ['counted posts', [...LIST, '--count-by', 'authorHandle'], ['authorHandle']],
  ['thesis tail', ['thesis', 'tail', '--no-follow', '--since', '1h'], ['authorHandle']],
  ['launchpad callouts', ['launchpad', 'callouts', '--limit', '15'], ['wallet', 'xUsername']],
  ['launchpad board', ['launchpad', 'board', '--top', '10', '--who'], ['wallet', 'trader']],
  ['launchpad history', ['launchpad', 'history', '--since', '2d', '--top', '5'], ['wallet']],
  ['launchpad user', ['launchpad', 'user', '@-dash', '@mira'], ['subject']],
];

const columnOf = (text: string, column: string): string[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => JSON.parse(line)[column] ?? []);

test.each(some(writers, 6))(
  'each subject in a file of %s is read as it was',
  async (_, words, columns) => {
    const { home, run } = await openTraders();
    const isStream = words.includes('tail');
    const text = (await run([...words, '-o', 'ndjson'])).stdout;
    for (const [at, column] of columns.entries()) {
      const values = columnOf(text, column);
      expect(values.length, column).toBeGreaterThan(0);
      // In CSV a handle may differ from what it is. The other formats take turns, and a stream is not one document.
      const other = formats[at % formats.length] ?? 'ndjson';
      for (const format of new Set(['csv', isStream && other === 'json' ? 'tsv' : other])) {
        if (!existsSync(home.at(`x.${format}`))) {
          const written = await run([...words, '-o', format]);
          expect(written.exitCode, written.stderr).toBe(0);
          home.write(`x.${format}`, written.stdout);
        }
        const reading = ['whois', '--file', `x.${format}`, '--column', column, '--cheap'];
        const ran = await run([...reading, '--fields', 'subject']);
        expect(columnOf(ran.stdout, 'subject'), `${format} ${column}`).toEqual(values);
      }
    }
  },
);

/** Commands that read subjects. */
const readers: readonly (readonly [string, readonly string[]])[] = [
  ['whois', ['whois', '--file']],
  ['whois -', ['whois', '-']],
  ['pnl', ['pnl', '--yes', '--file']],
  ['resolve', ['resolve', '--yes', '--file']],
  ['launchpad user', ['launchpad', 'user', '--file']],
  ['thesis list', ['thesis', 'list', '--limit', '30', '--users']],
  ['thesis tail', ['thesis', 'tail', '--no-follow', '--since', '1d', '--users']],
  ['launchpad callouts', ['launchpad', 'callouts', '--users']],
  ['launchpad tail', ['launchpad', 'tail', '--no-follow', '--since', '1d', '--users']],
];

const DESK = ['@-dash', '@-two.dots', '@mira'];

test.each(some(readers, 6))(
  '%s reads the subjects of a file in several formats',
  async (name, words) => {
    const { home, run } = await openTraders();
    const named = await run(['whois', ...DESK, '--out', 'x.ndjson']);
    expect(named.exitCode, named.stderr).toBe(0);
    const stdin = (text: string) => (words.at(-1) === '-' ? text : undefined);
    const outputs: string[] = [];
    // One reader has all formats.
    for (const format of some(formats, name === 'whois' ? formats.length : 2)) {
      await run(['whois', ...DESK, '--out', `x.${format}`]);
      const input = stdin(home.read(`x.${format}`));
      const file = input === undefined ? [`x.${format}`] : [];
      const ran = await run([...words, ...file, '--column', 'subject'], {
        ...{ stdin: input, clock: virtualClock(Date.now()) },
      });
      expect(ran.exitCode, `${format}: ${ran.stderr}`).toBe(0);
      expect(ran.stderr).not.toContain('not found');
      outputs.push(JSON.stringify(ran.records().map(({ subject, id }) => subject ?? id)));
    }
    expect(new Set(outputs).size, outputs.join('\n')).toBe(1);
  },
);

test.each([
  ['table', 'subject'],
  ['markdown', 'subject'],
  ['table', 'handle'],
])('a table for people as %s is refused, free of charge', async (format, column) => {
  const { sandbox, run } = await openTraders();
  const fields = column === 'handle' ? ['--fields', 'handle'] : [];
  const drawn = await run(['whois', ...DESK, '-o', format, ...fields]);
  const spent = sandbox.meter().totalUnits;
  for (const words of [
    ['whois', '-'],
    ['thesis', 'list', '--users', '-'],
    ['pnl', '-'],
  ]) {
    for (const columns of [['--column', column], []]) {
      const ran = await run([...words, ...columns], { stdin: drawn.stdout });
      expect([ran.exitCode, ran.stdout], ran.stderr).toEqual([2, '']);
      expect(ran.stderr).toMatch(/table for people|starts with a header/);
    }
  }
  expect(sandbox.meter().totalUnits).toBe(spent);
});

test('the lines of one column of an export are subjects too', async () => {
  const { run } = await openTraders();
  const csv = await run(['whois', ...DESK, '-o', 'csv', '--fields', 'subject']);
  const rows = csv.stdout.split('\n').slice(1).join('\n');
  const ran = await run('whois -', { stdin: rows });
  expect(ran.records().map(({ subject, found }) => [subject, found])).toEqual(
    DESK.map((subject) => [subject, true]),
  );
});
