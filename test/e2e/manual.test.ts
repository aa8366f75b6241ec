import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { describe, expect, test } from 'vitest';
import { withoutBold } from '../../src/cli/docs/bold.ts';
import { commandProse } from '../../src/cli/docs/command-prose.ts';
import { allCommands, wholeProgram } from '../../src/cli/docs/help.ts';
import { preparedTexts } from '../../src/cli/docs/manual.ts';
import { topics } from '../../src/cli/docs/topics.ts';
import type { Program } from '../../src/cli/program/program.ts';
import { commandPaths } from '../../src/cli/tree.ts';
import { some } from '../repeats.ts';
import { has } from '../tools.ts';
import { openHome, runInProcess, trdr } from './harness.ts';

const commands = await allCommands();
const { help, man, reference } = await preparedTexts();
const named = (path: string) => path.replaceAll(' ', '-');
const textOf = (file: string) => withoutBold(help[file] ?? expect.unreachable());

const programsIn = (program: Program): Program[] => [
  program,
  ...program.commands.flatMap(programsIn),
];

test('the commands that help suggests run as written', async () => {
  const lines = textOf('trdr.txt').match(/^ {2}trdr .* --sandbox$/gm) ?? [];
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    const { exitCode, stdout, stderr } = await runInProcess(line.trim().split(' ').slice(1));
    expect([line, exitCode, stdout === ''], stderr).toEqual([line, 0, false]);
  }
});

describe('help', () => {
  test.each(some([40, 41, 60, 80, 99, 120, 200], 2))('fits %i columns', async (columns) => {
    const copied = new Set(
      commands.flatMap((command) => Object.keys(commandProse(command).examples)),
    );
    for (const isBrief of [true, false]) {
      for (const page of programsIn(await wholeProgram({ columns, isBrief }))) {
        for (const line of withoutBold(page.helpInformation()).split('\n')) {
          const text = line.trim();
          // Terms, such as a flag with its choices, are not wrapped.
          if (copied.has(text) || /^(-|Usage: )/.test(text) || !text.includes(' ')) continue;
          if (/^(GET|POST) |--sandbox$/.test(text)) continue;
          expect(line.length, `${page.words.join(' ')}: ${line}`).toBeLessThanOrEqual(columns);
        }
      }
    }
  });

  test('is brief with -h: usage, the own flags, three examples', async () => {
    const brief = await runInProcess('pnl -h');
    expect(brief.stdout).toBe(textOf('pnl.brief.txt'));
    expect(brief.stdout.match(/^ {2}trdr pnl /gm)).toHaveLength(3);
    expect((await runInProcess('pnl mira -h')).stdout).toBe(brief.stdout);
  });

  test.each(commands.map(({ path }) => path))('%s has 18 lines before its flags', (path) => {
    const before = textOf(`${path.replaceAll(' ', '-')}.txt`).split(/^[A-Z][A-Za-z ]+:$/m)[0] ?? '';
    expect(before.split('\n').length).toBeLessThanOrEqual(18);
  });

  test('fits a screen with -h: at most 40 lines, however many flags a command has', async () => {
    for (const columns of [80, 100, 200])
      for (const page of programsIn(await wholeProgram({ columns, isBrief: true }))) {
        const lines = page.helpInformation().trimEnd().split('\n');
        expect(lines.length, page.words.join(' ')).toBeLessThanOrEqual(40);
      }
    const tail = textOf('thesis-tail.brief.txt');
    expect(tail).toMatch(/^Most used flags:$/m);
    expect(tail).toMatch(/for all \d+ flags/);
    for (const path of commandPaths)
      expect(textOf('trdr.brief.txt')).toContain(path.split(' ').at(-1));
  });

  test('lists every command', () => {
    const overview = textOf('trdr.txt');
    for (const command of commands) {
      const { path } = command;
      const { summary } = commandProse(command);
      const [first = '', second] = path.split(' ');
      const row = new RegExp(`^  ${first} .*(?:\n {4,}.*)*`, 'm').exec(overview)?.[0] ?? '';
      expect([path, row.replace(/\s+/g, ' ')]).toEqual([
        path,
        expect.stringContaining(second ?? summary),
      ]);
    }
  });

  test('is the same from prepared files, from "trdr help" and from the program', async () => {
    const direct = await trdr('whois --help');
    expect(direct.stdout).toBe(textOf('whois.txt'));
    // With other arguments, the program itself prints help.
    for (const line of ['help whois', 'whois mira --help'])
      expect((await runInProcess(line)).stdout).toBe(direct.stdout);
    expect((await trdr('--help')).stdout).toBe(textOf('trdr.txt'));
    expect((await trdr([])).stdout).toBe(textOf('trdr.brief.txt'));
    expect((await runInProcess('help')).stdout).toBe(textOf('trdr.txt'));
    expect((await runInProcess('-h')).stdout).toBe(textOf('trdr.brief.txt'));
  });

  test('fits the terminal and has bold headings on it, unless color is off', async () => {
    const shown = async (columns: number, env = {}) =>
      (await runInProcess('help whois', { tty: true, columns, env })).stdout;
    expect(await shown(120)).toContain('\x1b[1mFlags:\x1b[22m');
    expect(await shown(60)).not.toBe(await shown(80));
    const plain = { NO_COLOR: '1' };
    expect(await shown(80, plain)).toBe(textOf('whois.txt'));
    expect(await shown(100, plain)).toBe(textOf('whois.wide.txt'));
    expect(await shown(200, plain)).toBe(textOf('whois.wide.txt'));
  });

  test('has topics, and suggests a name for a typo', async () => {
    for (const { name } of topics) {
      const { exitCode, stdout } = await runInProcess(['help', name]);
      expect([name, exitCode, stdout.length > 300]).toEqual([name, 0, true]);
    }
    expect((await runInProcess('help exit codes')).stdout).toContain('130');
    const wrong = await runInProcess('help monney');
    expect([wrong.exitCode, wrong.error()['hint']]).toEqual([2, 'Did you mean "trdr help money"?']);
  });

  test('of a group lists its commands; without a subcommand, the group is rejected with such a list', async () => {
    expect((await runInProcess('help auth')).stdout).toMatch(/^ {2}login /m);
    const { error } = await runInProcess('cache');
    expect(error()).toMatchObject({
      exit: 2,
      message: '"trdr cache" requires a subcommand: stats, clear',
    });
  });
});

test.each(['-v', 'version -q'])('the version: trdr %s', async (line) => {
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

  test('is plain ASCII, because anything else would depend on the locale of the reader', () => {
    for (const text of Object.values(man)) {
      expect(text).toMatch(/^\.TH "TRDR/);
      expect(text).toMatch(/^[\n\x20-\x7e]*$/);
    }
  });

  test.skipIf(!has('groff'))('is valid roff, with examples that can be copied', () => {
    const folder = openHome().path;
    const roff = ['-ww', '-P-cbou', '-rLL=250n', '-man', '-Tutf8'];
    const paths = Object.entries(man).map(([name, text]) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    });
    const { stdout, stderr } = execaSync('groff', [...roff, ...paths]);
    expect(stderr).toBe('');
    for (const command of commands)
      for (const run of Object.keys(commandProse(command).examples)) expect(stdout).toContain(run);
  });
});

describe('the reference', () => {
  test('has a page for each command with its flags, prices and exit codes', async () => {
    for (const { path, options, exits } of commands) {
      const page = reference[`${named(path)}.md`] ?? '';
      expect(page).toContain(`# trdr ${path}\n`);
      for (const { flags } of Object.values(options))
        expect(page).toContain(flags.replaceAll('|', '\\|'));
      for (const code of exits) expect(page).toContain(`| \`${code}\` |`);
      expect(reference['README.md']).toContain(`](${named(path)}.md)`);
    }
  });
});
