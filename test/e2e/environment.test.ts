import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { widthOf } from '../../src/output/terminal/width.ts';
import { some } from '../repeats.ts';
import { bash } from './bash.ts';
import { openDesk, openHome, runInProcess, withSandbox } from './harness.ts';

const NOW = Date.UTC(2026, 0, 15, 12);
const commands: readonly (readonly string[])[] = [
  ['whois', 'mira'],
  ['whois', 'mira', 'nobody_at_all', 'juno'],
  ['resolve', 'mira', 'nobody_at_all', '--no-wait'],
  ['pnl', 'mira'],
  ['pnl', 'mira', 'juno', 'nobody_at_all', '--yes'],
  ['thesis', 'list', '--limit', '30'],
  ['launchpad', 'callouts'],
  ['launchpad', 'board'],
  ['launchpad', 'board', '--compare', '7d'],
  ['me'],
  ['price'],
  ['whois', 'mira', 'juno', '--dry-run'],
  ['config', 'list', '--origin'],
  ['auth', 'status'],
  ['cache', 'stats'],
  ['usage'],
  ['doctor'],
  ['whois', 'mira', '--max-cu', '1'],
  ['whois', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee'],
  ['thesis', 'list', '--before', 'no-such-thesis'],
];
const named = some(commands, 4).map((words) => ({ line: words.join(' '), words }));
const utf8 = { LANG: 'C.UTF-8' };
const COLOR = /\u001b\[/;

test('treats a terminal of size 0x0 as 80 columns wide', async () => {
  const sandbox = await withSandbox({ now: NOW });
  for (const words of ['thesis list --limit 5', 'pnl mira solwolf --yes', 'whois nobody_here']) {
    const at = (columns: number) => runInProcess(words, { sandbox, tty: true, columns, env: utf8 });
    const [unknown, eighty] = [await at(0), await at(80)];
    expect(unknown.stdout).toBe(eighty.stdout);
    expect(unknown.stdout).not.toBe('');
    expect((await at(1)).stdout).not.toBe(eighty.stdout);
  }
});

describe.each(named)('trdr $line', ({ words }) => {
  test.each(some([40, 60, 80, 200], 2))('fits a terminal of %i columns', async (columns) => {
    const { run } = await openDesk({ now: NOW });
    const ran = await run(words, { tty: true, columns, env: utf8 });
    expect(ran.exitCode).not.toBe(1);
    // Skip notices: each is one long line, which the terminal wraps.
    const errors = ran.stderr.slice(Math.max(0, ran.stderr.indexOf('error: ')));
    const told = ran.exitCode === 0 || ran.exitCode === 3 ? '' : stripVTControlCharacters(errors);
    for (const line of `${stripVTControlCharacters(ran.stdout)}\n${told}`.split('\n')) {
      expect(widthOf(line), line).toBeLessThanOrEqual(columns);
    }
  });

  test('prints ASCII in an ASCII locale, and color only if requested', async () => {
    const sandbox = await withSandbox({ now: NOW });
    const shown = async (flags: readonly string[], env: Record<string, string>, tty = true) => {
      const ran = await runInProcess([...words, ...flags], {
        sandbox,
        tty,
        env,
        platform: 'linux',
      });
      return ran.stdout + ran.stderr;
    };
    expect(stripVTControlCharacters(await shown([], { LANG: 'C' }))).toMatch(/^[\n\x20-\x7e]*$/);
    // A few commands print nothing in color.
    const isColored = COLOR.test(await shown(['--color', 'always'], { ...utf8, NO_COLOR: '1' }));
    expect(COLOR.test(await shown([], utf8))).toBe(isColored);
    expect(await shown([], { ...utf8, NO_COLOR: '1' })).not.toMatch(COLOR);
    expect(await shown(['-o', 'csv', '--color', 'always'], utf8, false)).not.toMatch(COLOR);
  });
});

test.each([
  [{ LANG: 'de_DE.ISO-8859-1' }, true],
  [{ LC_ALL: 'POSIX', LANG: 'C.UTF-8' }, true],
  [{}, true],
  [utf8, false],
])('the locale %j is ASCII: %s', async (env: Record<string, string>, isAscii) => {
  const { run } = await openDesk({ now: NOW });
  const { stdout } = await run('me', { tty: true, env, platform: 'linux' });
  expect(/^[\n\x20-\x7e]*$/.test(stripVTControlCharacters(stdout))).toBe(isAscii);
});

/** Whether the output has color: by flags, variables, the setting of the profile, and on a terminal. */
test.each<[boolean, string, Record<string, string>, string | null, boolean]>([
  [true, '', {}, null, true],
  [true, '', { NO_COLOR: '1' }, null, false],
  [true, '', { NO_COLOR: '' }, null, true],
  [true, '', { TERM: 'dumb' }, null, false],
  [true, '--color never', { FORCE_COLOR: '1' }, null, false],
  [true, '--color always', { NO_COLOR: '1' }, null, true],
  [true, '', { FORCE_COLOR: '1', NO_COLOR: '1' }, null, true],
  [true, '', { FORCE_COLOR: '0' }, null, false],
  [false, '', {}, null, false],
  [false, '-o ndjson', { FORCE_COLOR: '1' }, null, false],
  [true, '', {}, 'never', false],
  [true, '--color auto', {}, 'never', true],
  [false, '-o table', {}, 'always', true],
  [false, '-o table', { NO_COLOR: '1' }, 'always', false],
])(
  'on a terminal: %s, with "%s", %j and the setting %s, color is %s',
  async (tty, flags, env, setting, is) => {
    const home = openHome();
    if (setting !== null) await home.run(['config', 'set', 'color', setting]);
    for (const words of [['price'], ['whois', 'a b']]) {
      const given = { home, tty, env: { ...utf8, ...env } };
      const ran = await runInProcess([...words, ...flags.split(' ').filter(Boolean)], given);
      const isError = words[0] === 'whois';
      // The errors of a run without a terminal are JSON.
      if (!isError || tty) expect(COLOR.test(ran.stdout + ran.stderr)).toBe(is);
    }
  },
);

describe('times', () => {
  test.each([
    ['UTC', /posted \(UTC\)/],
    ['Asia/Kolkata', /posted \(UTC\+5:30\)/],
    // With and without daylight saving time.
    ['America/St_Johns', /posted \(UTC-[23]:30\)/],
    ['Pacific/Chatham', /posted \(UTC\+1[23]:45\)/],
    ['Nowhere/Atall', /posted \(UTC/],
    [':/etc/localtime', /posted \(UTC/],
    ['', /posted \(UTC/],
  ])('are local, with their offset in the header: TZ=%s', async (TZ, header) => {
    const { run } = await openDesk({ now: NOW });
    const env = { ...utf8, NO_COLOR: '1', TZ };
    const shown = async (...flags: string[]) =>
      run(['thesis', 'list', '--limit', '3', ...flags], { tty: true, columns: 200, env });
    const local = await shown();
    expect(local.exitCode, local.stderr).toBe(0);
    expect(local.stdout).toMatch(header);
    if (TZ === 'Asia/Kolkata') expect((await shown('--utc')).stdout).toMatch(/posted \(UTC\)/);
  });
});

describe('a bare environment', () => {
  test('is enough: nothing but the service and the key', async () => {
    const sandbox = await withSandbox();
    const line = `env -i TRDR_BASE_URL=${sandbox.url} TRDR_API_KEY=${sandbox.key} "$NODE" "$PROGRAM" me </dev/null`;
    const home = openHome();
    const ran = await bash(line, { home });
    expect([ran.codes, JSON.parse(ran.stdout)]).toMatchObject([[0], { ratePerMinute: 600 }]);
  });

  const inDeleted = 'mkdir gone; cd gone; rmdir ../gone';
  const starts = [
    ['stdin closed', 'trdr whois mira <&-'],
    ['stdin from /dev/null', 'trdr whois mira </dev/null'],
    ['stderr closed', 'trdr whois mira 2>&-'],
    ['a home that does not exist', 'HOME="$PWD/none/home" trdr whois mira'],
    ['an empty home', 'HOME= trdr whois mira'],
    ['no home', 'unset HOME; trdr whois mira'],
    ['a deleted folder', `${inDeleted}; trdr whois mira`],
    ['no locale and no terminal', 'unset LANG LC_ALL TERM; trdr whois mira'],
    ['an unusual umask', 'umask 777; trdr whois mira'],
  ];
  test.each(some(starts, 3))('works with %s', async (_, line) => {
    const sandbox = await withSandbox();
    const none = {
      TRDR_CONFIG_DIR: undefined,
      TRDR_STATE_DIR: undefined,
      TRDR_CACHE_DIR: undefined,
    };
    const ran = await bash(line, { sandbox, env: none });
    expect(ran.codes, ran.stderr).toEqual([0]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ subject: 'mira', found: true });
    expect(ran.stderr).not.toMatch(/at .*\(|Error:/);
  });

  test.each([
    ['a missing file in a deleted folder', `${inDeleted}; trdr whois --file x`, 9],
    ['an output in a deleted folder', `${inDeleted}; trdr whois mira --out x.json`, 9],
    ['subjects from a closed stdin', 'trdr whois - <&-', 0],
    // A paid call that cannot be recorded is not sent.
    ['a home that may not be written', 'TRDR_STATE_DIR=/proc/nowhere trdr whois mira', 9],
  ])('is reported as an error message: %s', async (_, line, exit) => {
    const sandbox = await withSandbox();
    const ran = await bash(line, { sandbox });
    expect(ran.codes, ran.stderr).toEqual([exit]);
    expect(ran.stderr).not.toMatch(/at .*\(|Error:/);
  });

  test('creates private files under any umask', async () => {
    const { sandbox, home } = await openDesk();
    const ran = await bash(
      'umask 000; trdr whois mira >/dev/null; find . -mindepth 1 -printf "%y %m\\n" | sort -u',
      { sandbox, home, env: { NODE_DISABLE_COMPILE_CACHE: undefined } },
    );
    expect(ran.stdout).toBe('d 700\nf 600\n');
  });
});
