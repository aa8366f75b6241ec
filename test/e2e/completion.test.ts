import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { execa, execaSync } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completion } from '../../src/cli/commands/about.ts';
import { commandProse } from '../../src/cli/docs/command-prose.ts';
import { completionScripts } from '../../src/cli/docs/completion/scripts.ts';
import { openFolder } from '../folder.ts';
import { some } from '../repeats.ts';
import { has } from '../tools.ts';
import { runInProcess, trdr } from './harness.ts';
import { program } from './program.ts';
import { askBash, askFish, pressTab, shellHome } from './shells.ts';

const read = (name: string) => completionScripts[name] ?? '';

/** Command lines, and the completions that each shell must offer. */
const cases: readonly (readonly [line: string, offers: readonly string[]])[] = [
  ['trdr who', ['whois']],
  ['trdr launchpad b', ['board']],
  ['trdr launchpad board --period ', ['daily', 'weekly', 'monthly']],
  ['trdr me --profile d', ['desk', 'dev']],
  ['trdr whois --fields subject,han', ['subject,handle']],
  ['trdr api /v2/me', ['/v2/me']],
  ['trdr nonsense ', []],
];

describe('completion scripts', () => {
  test('are what trdr completion prints', async () => {
    const files = { bash: 'trdr.bash', zsh: 'trdr.zsh', fish: 'trdr.fish', powershell: 'trdr.ps1' };
    const kept = join(dirname(dirname(program)), 'completions');
    for (const [shell, file] of Object.entries(files))
      expect((await runInProcess(['completion', shell])).stdout).toBe(read(file));
    // The start script prints what the build has kept.
    for (const [shell, file] of some(Object.entries(files), 2))
      expect((await trdr(['completion', shell])).stdout).toBe(
        readFileSync(join(kept, file), 'utf8'),
      );
    expect((await runInProcess('completion tcsh')).exitCode).toBe(2);
  });
});

describe('in a shell', () => {
  let home: Awaited<ReturnType<typeof shellHome>>;
  beforeAll(async () => {
    home = await shellHome();
  });
  afterAll(() => home.close());

  test.skipIf(!has('bash')).each([
    ...some(cases, 1),
    // The shell starts a new word after = and @.
    ['trdr whois --as=', ['handle', 'wallet', 'id']],
    ['trdr me --profile=de', ['desk', 'dev']],
    ['trdr --sandbox whois @mi', ['mira']],
  ] as typeof cases)('bash completes "%s": %j', async (line, offers) =>
    expect((await askBash(line, home)).sort()).toEqual([...offers].sort()),
  );

  test
    .skipIf(!has('fish'))
    .each([
      ...some(cases, 1),
      ['trdr whois --as=ha', ['--as=handle']],
      ['trdr --sandbox whois @mi', ['@mira']],
      ['trdr whois --file scr', ['scripts/']],
      ['trdr whois --out=scr', ['--out=scripts/']],
    ] as typeof cases)('fish completes "%s": %j', async (line, offers) =>
    expect((await askFish(line, home)).sort()).toEqual([...offers].sort()),
  );

  for (const shell of ['bash', 'zsh'] as const)
    test.skipIf(!has('script', shell))(`${shell} completes words on a terminal`, async () => {
      const lines = [
        ['trdr launchpad bo', 'trdr launchpad board'],
        ['trdr launchpad board --period w', '--period weekly'],
        ['trdr whois --fields subject,han', '--fields subject,handle'],
        ['trdr me --profile des', '--profile desk'],
        ['trdr whois --as=ha', '--as=handle'],
        ['trdr whois --sandbox mi', '--sandbox mira'],
        ['trdr whois --out=scr', '--out=scripts/'],
      ] as const;
      for (const [line, completed] of some(lines, 1))
        expect(await pressTab(shell, line, home)).toContain(completed);
    });
});

describe('the lines of the help set up completion for a user with an empty home', () => {
  const lineOf = (shell: string) => {
    const [run = ''] =
      Object.entries(commandProse(completion).examples).find(([, does]) =>
        does.startsWith(`${shell}: add`),
      ) ?? [];
    return run;
  };
  // As root, a line could write into a folder of the system, which the shell of a plain user must not need.
  const plain = process.getuid?.() === 0 && has('setpriv');

  const profiles = { bash: '.bashrc', zsh: '.zshrc', fish: '.config/fish/config.fish' } as const;
  const shells = Object.keys(profiles) as (keyof typeof profiles)[];

  test.each(shells)('are in the help for %s', (shell) => {
    expect(lineOf(shell)).toContain(`trdr completion ${shell}`);
  });

  for (const shell of shells)
    test.skipIf(!has(shell, 'expect'))(shell, async () => {
      const file = profiles[shell];
      const path = openFolder();
      cpSync(dirname(dirname(program)), join(path, 'trdr'), { recursive: true });
      mkdirSync(join(path, 'bin'));
      const start = `#!/bin/sh\nexec '${process.execPath}' '${join(path, 'trdr/bin/trdr.js')}' "$@"\n`;
      writeFileSync(join(path, 'bin/trdr'), start, { mode: 0o755 });
      mkdirSync(join(path, dirname(file)), { recursive: true });
      writeFileSync(join(path, file), `${lineOf(shell)}\necho set up\n`);
      const own = plain
        ? ['setpriv', '--reuid', '64123', '--regid', '64123', '--clear-groups']
        : [];
      if (plain) execaSync('chown', ['-R', '64123:64123', path]);
      // Enter runs the completed line; its error names the command.
      const dialog = `set timeout 60
      spawn ${[...own, shell, '-i'].join(' ')}
      expect "set up"
      send "trdr launchpad bo\\t"
      expect "ard"
      send "\\r"
      expect NO_BASE_URL
      send "exit\\r"
      expect eof`;
      const env = {
        PATH: `${join(path, 'bin')}:${process.env['PATH']}`,
        HOME: path,
        TERM: 'xterm',
        LANG: 'C.UTF-8',
      };
      const { stdout } = await execa('expect', ['-c', dialog], {
        env,
        cwd: path,
        extendEnv: false,
        reject: false,
      });
      expect(stripVTControlCharacters(stdout)).toContain('NO_BASE_URL');
    });
});

describe('the PowerShell script', () => {
  test('closes every string, bracket and brace', () => {
    const text = read('trdr.ps1');
    const open: string[] = [];
    const pairs: Record<string, string> = { ')': '(', ']': '[', '}': '{' };
    const bare = text.replace(/'(?:[^']|'')*'|"(?:[^"`\n]|`.)*"|#.*$/gm, '');
    expect(bare).not.toMatch(/['"]/);
    for (const char of bare) {
      if ('([{'.includes(char)) open.push(char);
      else if (char in pairs) expect(open.pop()).toBe(pairs[char]);
    }
    expect(open).toEqual([]);
  });
});
