import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { execa, execaSync } from 'execa';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { completion } from '../../src/cli/commands/about.ts';
import { completionScripts } from '../../src/cli/docs/completion/scripts.ts';
import { trdr } from './harness.ts';
import { program } from './program.ts';
import { askBash, askFish, isInstalled, pressTab, shellHome } from './shells.ts';

const read = (name: string) => completionScripts[name] ?? '';

/** Command lines, and the completions that each shell must offer. */
const cases: readonly (readonly [line: string, offers: readonly string[]])[] = [
  ['trdr who', ['whois']],
  ['trdr launchpad b', ['board']],
  ['trdr --sandbox launchpad b', ['board']],
  ['trdr launchpad --sandbox b', ['board']],
  ['trdr -o json launchpad b', ['board']],
  ['trdr launchpad board --per', ['--period']],
  ['trdr launchpad board --period ', ['daily', 'weekly', 'monthly']],
  ['trdr launchpad board --period m', ['monthly']],
  ['trdr me -o nd', ['ndjson']],
  ['trdr me --profile d', ['desk', 'dev']],
  ['trdr whois --sandbox mi', ['mira']],
  ['trdr --sandbox whois --strict mi', ['mira']],
  ['trdr completion po', ['powershell']],
  ['trdr price thesis.u', ['thesis.user', 'thesis.userToken']],
  ['trdr config set color al', ['always']],
  ['trdr whois --fields subject,han', ['subject,handle']],
  ['trdr help exit', ['exit-codes']],
  ['trdr api /v2/me', ['/v2/me']],
  ['trdr nonsense ', []],
];

describe('completion scripts', () => {
  test('are what trdr completion prints', async () => {
    const files = { bash: 'trdr.bash', zsh: 'trdr.zsh', fish: 'trdr.fish', powershell: 'trdr.ps1' };
    const kept = join(dirname(dirname(program)), 'completions');
    for (const [shell, file] of Object.entries(files)) {
      expect((await trdr(['completion', shell])).stdout).toBe(readFileSync(join(kept, file), 'utf8'));
      expect((await trdr(['completion', shell, '-q'])).stdout).toBe(read(file));
    }
    expect((await trdr(['completion', 'tcsh'])).exitCode).toBe(2);
  });
});

describe('in a shell', () => {
  let home: Awaited<ReturnType<typeof shellHome>>;
  beforeAll(async () => {
    home = await shellHome();
  });
  afterAll(() => rmSync(home.path, { recursive: true, force: true }));

  test.each(cases)('bash completes "%s": %j', async (line, offers) => {
    if (!isInstalled('bash')) return expect(read('trdr.bash')).toContain('complete -F _trdr trdr');
    expect((await askBash(line, home)).sort()).toEqual([...offers].sort());
  });

  test('bash completes after = and @, where it starts a new word', async () => {
    if (!isInstalled('bash')) return expect(read('trdr.bash')).toContain('COMP_WORDBREAKS');
    expect(await askBash('trdr whois --as=', home)).toEqual(['handle', 'wallet', 'id']);
    expect(await askBash('trdr whois --as=ha', home)).toEqual(['handle']);
    expect(await askBash('trdr me --profile=de', home)).toEqual(['desk', 'dev']);
    expect(await askBash('trdr --sandbox whois @mi', home)).toEqual(['mira']);
  });

  test.each(cases)('fish completes "%s": %j', async (line, offers) => {
    if (!isInstalled('fish')) return expect(read('trdr.fish')).toContain('complete -c trdr -f');
    expect((await askFish(line, home)).sort()).toEqual([...offers].sort());
  });

  test('fish completes a value after =, and a handle after @', async () => {
    if (!isInstalled('fish')) return expect(read('trdr.fish')).toContain('__complete');
    expect(await askFish('trdr whois --as=ha', home)).toEqual(['--as=handle']);
    expect(await askFish('trdr --sandbox whois @mi', home)).toEqual(['@mira']);
    expect(await askFish('trdr whois --file scr', home)).toEqual(['scripts/']);
    expect(await askFish('trdr whois --out=scr', home)).toEqual(['--out=scripts/']);
  });

  test.each(['bash', 'zsh'] as const)(
    '%s on a terminal completes commands, flags, values and names',
    async (shell) => {
      if (!isInstalled(shell) || !isInstalled('script')) {
        return expect(read(`trdr.${shell}`)).toContain('__complete');
      }
      const tab = (line: string) => pressTab(shell, line, home);
      expect(await tab('trdr launchpad bo')).toContain('trdr launchpad board');
      expect(await tab('trdr whois --max-')).toMatch(/trdr whois --max-(age|cu|)/);
      expect(await tab('trdr launchpad board --period w')).toContain('--period weekly');
      expect(await tab('trdr whois --fields subject,han')).toContain('--fields subject,handle');
      expect(await tab('trdr whois --as=ha')).toContain('--as=handle');
      expect(await tab('trdr whois --file scr')).toContain('--file scripts/');
      expect(await tab('trdr whois --out=scr')).toContain('--out=scripts/');
      expect(await tab('trdr completion po')).toContain('trdr completion powershell');
      expect(await tab('trdr me --profile des')).toContain('--profile desk');
      expect(await tab('trdr whois --sandbox mi')).toContain('--sandbox mira');
    },
  );
});

describe('the lines of the help set up completion for a user with an empty home', () => {
  const lineOf = (shell: string) => {
    const [run = ''] =
      Object.entries(completion.examples).find(([, does]) => does.startsWith(`${shell}: add`)) ?? [];
    return run;
  };
  // As root, a line could write into a folder of the system, which the shell of a plain user must not need.
  const plain = process.getuid?.() === 0 && isInstalled('setpriv');

  test.each([
    ['bash', '.bashrc'],
    ['zsh', '.zshrc'],
    ['fish', '.config/fish/config.fish'],
  ])('%s', async (shell, file) => {
    expect(lineOf(shell)).toContain(`trdr completion ${shell}`);
    if (!isInstalled(shell) || !isInstalled('expect')) return;
    const path = mkdtempSync(join(tmpdir(), 'trdr-user-'));
    onTestFinished(() => rmSync(path, { recursive: true, force: true }));
    cpSync(dirname(dirname(program)), join(path, 'trdr'), { recursive: true });
    mkdirSync(join(path, 'bin'));
    const start = `#!/bin/sh\nexec '${process.execPath}' '${join(path, 'trdr/bin/trdr.js')}' "$@"\n`;
    writeFileSync(join(path, 'bin/trdr'), start, { mode: 0o755 });
    mkdirSync(join(path, dirname(file)), { recursive: true });
    writeFileSync(join(path, file), `${lineOf(shell)}\necho set up\n`);
    const own = plain ? ['setpriv', '--reuid', '64123', '--regid', '64123', '--clear-groups'] : [];
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

test('completing names loads a minimal part of the program', () => {
  const dist = join(dirname(dirname(program)), 'dist');
  const listing = `
    process.argv = ['node', 'trdr', '__complete', 'words', 'me', '--profile', ''];
    process.on('exit', () => console.error(Object.keys(require.cache).join('\\n')));
    require(${JSON.stringify(join(dist, 'main.cjs'))}).start();`;
  const { stderr } = execaSync(process.execPath, ['-e', listing], { env: { HOME: '/nonexistent' } });
  const loaded = stderr.split('\n').filter((file) => file.startsWith(dist));
  const bytes = loaded.reduce((sum, file) => sum + statSync(file).size, 0);
  expect(loaded.length).toBeGreaterThan(1);
  expect(bytes).toBeLessThan(40_000);
});
