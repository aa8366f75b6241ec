import { existsSync, readFileSync } from 'node:fs';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { some } from '../repeats.ts';
import { has } from '../tools.ts';
import { openHome, programEnv, withSandbox } from './harness.ts';
import { program } from './program.ts';

const list = 'thesis list --limit 20';

interface Given {
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a line on a terminal with a pager that notes what it is given. */
async function onTerminal(line: string, { rows = 10, env = {} }: Given = {}) {
  const [home, sandbox] = [openHome(), await withSandbox()];
  const pager = 'cat > paged; env > env';
  const options = { home, sandbox, env: { TERM: 'xterm', TRDR_PAGER: pager, ...env } };
  const command = `trap : INT; stty rows ${rows} cols 80; '${process.execPath}' '${program}' ${line}; echo "exit $?"`;
  const { stdout } = await execa('script', ['-qec', command, '/dev/null'], {
    cwd: home.path,
    env: { ...programEnv(options), SHELL: '/bin/sh' },
    extendEnv: false,
    stdin: 'ignore',
  });
  const file = (name: string) => home.at(name);
  const paged = existsSync(file('paged')) ? readFileSync(file('paged'), 'utf8') : undefined;
  return { stdout, paged, textOf: (name: string) => readFileSync(file(name), 'utf8') };
}

type Unpaged = readonly [why: string, line: string, given: Given, rows: number];

describe.skipIf(!has('script'))('the pager', () => {
  test('gets a table that is longer than the screen, in color, and no key', async () => {
    const { stdout, paged, textOf } = await onTerminal(list, { env: { FORCE_COLOR: '1' } });
    expect(paged?.split('\n').length).toBeGreaterThan(20);
    expect(paged).toContain('\u001b[');
    expect(stdout).toContain('20 theses');
    expect(stdout).toContain('exit 0');
    expect(textOf('env')).toContain('TERM=xterm');
    expect(textOf('env')).not.toContain('TRDR_API_KEY');
  });

  test('gets a long page of help', async () => {
    expect((await onTerminal('thesis tail --help')).paged).toContain('trdr thesis tail');
  });

  const fails = (pager: string): Unpaged => [
    `"${pager}" reads nothing and fails`,
    ...([list, { env: { TRDR_PAGER: pager } }, 20] as const),
  ];
  const unpaged: readonly Unpaged[] = [
    ['the table fits', list, { rows: 200 }, 20],
    ['CI', list, { env: { CI: 'true' } }, 20],
    ['an empty TRDR_PAGER', list, { env: { TRDR_PAGER: '', PAGER: 'cat > paged' } }, 20],
    ['--no-pager', `${list} --no-pager`, {}, 20],
    ['TERM=dumb', list, { env: { TERM: 'dumb' } }, 20],
    ['an agent', list, { env: { AI_AGENT: 'robot' } }, 20],
    ['-h', 'thesis tail -h', {}, 0],
    ['help with --no-pager', 'thesis tail --help --no-pager', {}, 0],
    ['no command', '', {}, 0],
    ['another format', `${list} -o csv`, {}, 0],
    ['a file', `${list} --out rows.csv`, {}, 0],
    ['a pipe', `${list} | cat`, {}, 0],
    ...['no-such-pager', 'cat > paged |', 'kill -9 $$', 'exit 1', 'cat --no-such-flag'].map(fails),
  ];
  test.each(some(unpaged, 3))('does not run: %s', async (_, line, given, rows) => {
    const { stdout, paged } = await onTerminal(line, given);
    expect(paged).toBeUndefined();
    expect(stdout.match(/^ *\S+ \d\d:\d\d:\d\d/gm) ?? []).toHaveLength(rows);
    expect(stdout).toContain('exit 0');
  });

  test('may be PAGER, may be left early, and keeps the exit code of the run', async () => {
    const { stdout } = await onTerminal('thesis list --limit 60', {
      env: { TRDR_PAGER: 'head -n 1' },
    });
    expect(stdout).toContain('exit 0');
    expect(stdout).not.toMatch(/EPIPE|Error/);
    // A pager that fails after it has read something has shown it.
    const { stdout: broken } = await onTerminal(list, {
      env: { TRDR_PAGER: 'read -r line; exit 1' },
    });
    expect(broken).toContain('exit 0');
    expect(broken).not.toMatch(/^ *\S+ \d\d:\d\d:\d\d/m);
    const failed = 'whois mira nobody-of-this-name solwolf tokyo --strict --wide';
    const { stdout: strict } = await onTerminal(failed, {
      rows: 3,
      env: { TRDR_PAGER: 'cat; exit 7' },
    });
    expect(strict).toContain('exit 10');
  });

  test('gets Ctrl-C for itself once it has all rows', async () => {
    const pager = 'trap : INT; cat > paged; kill -INT 0; echo left';
    const { stdout, paged } = await onTerminal(list, { env: { TRDR_PAGER: pager } });
    expect(paged?.split('\n').length).toBeGreaterThan(20);
    expect(stdout).toMatch(/left.*20 theses.*exit 0/s);
  });
});
