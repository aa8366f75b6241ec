import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { describe, expect, test } from 'vitest';
import { allCommands } from '../../src/cli/docs/help.ts';
import { layoutPage } from '../../src/cli/docs/layout.ts';
import { preparedTexts } from '../../src/cli/docs/manual.ts';
import { overviewPage } from '../../src/cli/docs/overview.ts';
import type { DocPage } from '../../src/cli/docs/page.ts';
import { topics } from '../../src/cli/docs/topics.ts';
import { openHome, runInProcess, trdr } from './harness.ts';
import { isInstalled } from './shells.ts';

const commands = await allCommands();
const { help, man, reference } = await preparedTexts();
const named = (path: string) => path.replaceAll(' ', '-');
const pageOf = (name: string) => pages.find((page) => page.name === name) ?? expect.unreachable();

/** All help pages, as the build writes them as JSON. */
const pages = Object.values(help).map((text): DocPage => JSON.parse(text));

test('the commands that help suggests run as written', async () => {
  const text = layoutPage(overviewPage(commands), { columns: 80, bold: false });
  const lines = text.match(/^ {2}trdr .* --sandbox$/gm) ?? [];
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    const { exitCode, stdout, stderr } = await trdr(line.trim().split(' ').slice(1));
    expect([line, exitCode, stdout === ''], stderr).toEqual([line, 0, false]);
  }
});

describe('help', () => {
  test.each([40, 41, 60, 80, 99, 120, 200])(
    'fits a terminal of %i columns, except for command lines',
    (columns) => {
      for (const page of pages) {
        const copied = page.sections.flatMap(({ code = {}, terms = [] }) => [
          ...Object.keys(code),
          // A flag with its choices is not wrapped.
          ...terms.map(([term]) => term.trim()),
        ]);
        for (const line of layoutPage(page, { columns, bold: false }).split('\n')) {
          if (copied.includes(line.trim()) || !line.trim().includes(' ')) continue;
          expect(line.length, `${page.name}: ${line}`).toBeLessThanOrEqual(columns);
        }
      }
    },
  );

  test('shows the examples right after the flags of the command, and the common flags last', () => {
    const text = layoutPage(pageOf('whois'), { columns: 80, bold: false });
    expect(text.match(/^[A-Z][A-Za-z ]+(?=:$)/gm)).toEqual([
      'Arguments',
      'Flags',
      'Examples',
      'Prices',
      'Exit codes',
      'Output flags',
      'Service flags',
      'Cost flags',
      'Global flags',
    ]);
  });

  test('lists every command, including those in no section', () => {
    const added = {
      ...(commands[0] ?? expect.unreachable()),
      path: 'brandnew',
      summary: 'Do a new thing',
    };
    const listed = overviewPage([...commands, added]).sections.flatMap(({ terms = [] }) => terms);
    expect(listed.map(([term, meaning]) => [term.trim(), meaning])).toContainEqual([
      'brandnew',
      'Do a new thing',
    ]);
    for (const { path } of commands) {
      const [first = '', second] = path.split(' ');
      const row = listed.find(([term]) => [path, first].includes(term.trim()));
      expect([path, row?.[1].includes(second ?? '') || row?.[0].trim() === path]).toEqual([
        path,
        true,
      ]);
    }
  });

  test('is the same from prepared files, from "trdr help" and from the program', async () => {
    const direct = await trdr(['whois', '--help']);
    expect(direct.stdout).toBe(layoutPage(pageOf('whois'), { columns: 80, bold: false }));
    expect((await trdr(['help', 'whois'])).stdout).toBe(direct.stdout);
    // With other arguments, the program itself prints help.
    expect((await trdr(['whois', 'mira', '--help'])).stdout).toBe(direct.stdout);
    expect((await runInProcess(['help', 'whois'])).stdout).toBe(direct.stdout);
    for (const line of [[], ['help'], ['--help'], ['-h']]) {
      expect([line, (await trdr(line)).stdout]).toEqual([
        line,
        layoutPage(overviewPage(commands), { columns: 80, bold: false }),
      ]);
    }
  });

  test('fits the terminal and has bold headings on it, unless color is off', async () => {
    const wide = await runInProcess(['help', 'whois'], { tty: true, columns: 120 });
    expect(wide.stdout).toContain('\x1b[1mFlags:\x1b[22m');
    expect(wide.stdout).not.toBe(
      (await runInProcess(['help', 'whois'], { tty: true, columns: 60 })).stdout,
    );
    const plain = await runInProcess(['help', 'whois'], {
      tty: true,
      columns: 80,
      env: { NO_COLOR: '1' },
    });
    expect(plain.stdout).toBe(layoutPage(pageOf('whois'), { columns: 80, bold: false }));
  });

  test('has topics, and suggests a name for a typo', async () => {
    for (const name of ['environment', 'formats', 'times', 'money', 'exit-codes', 'store']) {
      const { exitCode, stdout } = await trdr(['help', name]);
      expect([name, exitCode, stdout.length > 300]).toEqual([name, 0, true]);
    }
    expect((await trdr(['help', 'exit', 'codes'])).stdout).toContain('130');
    const wrong = await trdr(['help', 'monney']);
    expect([wrong.exitCode, wrong.error()['hint']]).toEqual([2, 'Did you mean "trdr help money"?']);
  });

  test('of a group lists its commands; without a subcommand, the group is rejected with such a list', async () => {
    expect((await trdr(['help', 'auth'])).stdout).toContain('auth login');
    const { exitCode, error } = await trdr(['cache']);
    expect([exitCode, error()['message']]).toEqual([
      2,
      '"trdr cache" requires a subcommand: stats, clear',
    ]);
  });
});

test.each([['version'], ['-v'], ['version', '-q']])('the version: trdr %s', async (...line) => {
  const { version } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
  );
  expect((await trdr(line)).stdout).toBe(`${version}\n`);
});

describe('the manual', () => {
  test('has a page for each command and topic, and an overview', async () => {
    const names = commands.map(({ path }) => `trdr-${named(path)}.1`);
    const topicNames = topics.map(({ name }) => `trdr-${name}.7`);
    expect(Object.keys(man).sort()).toEqual(['trdr.1', ...names, ...topicNames].sort());
  });

  test('has all flags of a command under one heading, also if they are in groups', async () => {
    expect(man['trdr-thesis-tail.1']).toContain('\n.SH OPTIONS\n.SS What to read\n.TP\n');
    expect(man['trdr-whois.1']).toContain('\n.SH OPTIONS\n.TP\n');
  });

  test('is valid roff, with examples that can be copied', () => {
    const folder = openHome().path;
    const roff = ['-ww', '-P-cbou', '-rLL=250n', '-man', '-Tutf8'];
    const examples = new Map(commands.map((each) => [`trdr-${named(each.path)}.1`, each.examples]));
    for (const [name, text] of Object.entries(man)) {
      expect(text).toMatch(/^\.TH "TRDR/);
      // Unescaped text must be ASCII; anything else would depend on the reader's locale.
      expect(text).toMatch(/^[\n\x20-\x7e]*$/);
      if (!isInstalled('groff')) continue;
      writeFileSync(join(folder, name), text);
      const { stdout, stderr } = execaSync('groff', [...roff, join(folder, name)]);
      expect([name, stderr]).toEqual([name, '']);
      for (const run of Object.keys(examples.get(name) ?? {})) expect(stdout).toContain(run);
    }
  });
});

describe('the reference', () => {
  test('has a page for each command with its flags, prices and exit codes', async () => {
    for (const { path, options, exits } of commands) {
      const page = reference[`${named(path)}.md`] ?? '';
      expect(page).toContain(`# trdr ${path}\n`);
      for (const { flags } of Object.values(options)) expect(page).toContain(flags);
      for (const code of exits) expect(page).toContain(`| \`${code}\` |`);
      expect(reference['README.md']).toContain(`](${named(path)}.md)`);
    }
  });
});
