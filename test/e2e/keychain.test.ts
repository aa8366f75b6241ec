import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { has } from '../tools.ts';
import { type Home, openDesk, openHome, runInProcess, withSandbox } from './harness.ts';
import { program } from './program.ts';

/** Each keeps its entries in files of the home, and writes down its arguments. */
const standIns = {
  linux: {
    tool: 'secret-tool',
    script: `verb=$1; shift
[ "$verb" = store ] && shift
entry="$HOME/kept-$2-$4"
case $verb in
  store) cat > "$entry" ;;
  lookup) [ -f "$entry" ] || exit 1; cat "$entry" ;;
  clear) [ -f "$entry" ] || exit 1; rm "$entry" ;;
esac`,
    line: 'secret-tool lookup service trdr profile desk',
  },
  darwin: {
    tool: 'security',
    script: `if [ "$1" = -i ]; then
  read -r line
  key=$(printf '%s' "$line" | sed 's/.* -w "//; s/"$//; s/\\\\\\(.\\)/\\1/g')
  set -- $line
  printf %s "$key" > "$HOME/kept-$4-$6"
  exit
fi
case $1 in
  find-generic-password) [ -f "$HOME/kept-$3-$5" ] || exit 44; cat "$HOME/kept-$3-$5"; echo ;;
  delete-generic-password) [ -f "$HOME/kept-$3-$5" ] || exit 44; rm "$HOME/kept-$3-$5" ;;
esac`,
    line: 'security find-generic-password -s trdr -a desk -w',
  },
} as const;

type System = keyof typeof standIns;

/** A home with a stand-in for the tool of a system; `more` is run first by the tool. */
function openKeychain(platform: System, more = '') {
  const { tool, script, line } = standIns[platform];
  const home = openHome();
  const bin = home.at('bin');
  mkdirSync(bin);
  const path = join(bin, tool);
  const place = (first: string) => {
    writeFileSync(
      path,
      `#!/bin/sh\nprintf '%s\\n' "$*" >> "$HOME/arguments"\n${first}\n${script}\n`,
    );
    chmodSync(path, 0o700);
  };
  place(more);
  const kept = home.at('kept-trdr-desk');
  const options = { home, platform, key: null, env: { PATH: `${bin}:${home.env['PATH']}` } };
  const login = (url: string, key: string, ...more: readonly string[]) => {
    const words = ['auth', 'login', '--with-key', '--profile', 'desk', '--base-url', url, ...more];
    return runInProcess(words, { ...options, stdin: key });
  };
  return { line, home, place, kept, options, login };
}

const profilesOf = (home: Home) =>
  JSON.parse(readFileSync(join(home.config, 'config.json'), 'utf8')).profiles;

describe.each(Object.keys(standIns) as System[])('on %s, auth login --keychain', (platform) => {
  test('keeps the key with the tool of the system, never on a command line', async () => {
    const { line, home, kept, options, login } = openKeychain(platform);
    const sandbox = await withSandbox();
    const run = await login(sandbox.url, `${sandbox.key}\n`, '--keychain');
    expect(run.exitCode, run.stderr).toBe(0);
    expect(readFileSync(kept, 'utf8')).toBe(sandbox.key);
    expect(profilesOf(home).desk).toEqual({ keyCommand: line, baseUrl: sandbox.url });
    const me = await runInProcess('me --fields plan', options);
    expect(me.exitCode, me.stderr).toBe(0);
    const out = await runInProcess('auth logout desk', options);
    expect([out.exitCode, existsSync(kept)], out.stderr).toEqual([0, false]);
    expect(profilesOf(home).desk).toEqual({ baseUrl: sandbox.url });
    expect(home.read('arguments')).not.toContain(sandbox.key);
    expect(run.stderr + me.stderr + out.stderr).not.toContain(sandbox.key);
  });

  test('keeps keys with every printable character', async () => {
    const { kept, login } = openKeychain(platform);
    const key = String.fromCharCode(...Array.from({ length: 94 }, (_, at) => 0x21 + at));
    const run = await login('https://service.example', `a${key}`, '--keychain', '--no-verify');
    expect([run.exitCode, readFileSync(kept, 'utf8')], run.stderr).toEqual([0, `a${key}`]);
  });

  test('replaces the key of its profile, and leaves that of another config alone', async () => {
    const { home, kept, login } = openKeychain(platform);
    const url = 'https://service.example';
    for (const key of ['first', 'second']) {
      const run = await login(url, key, '--keychain', '--no-verify');
      expect([run.exitCode, readFileSync(kept, 'utf8')], run.stderr).toEqual([0, key]);
    }
    writeFileSync(join(home.config, 'config.json'), '');
    const foreign = await login(url, 'third', '--keychain', '--no-verify');
    expect(foreign.exitCode).toBe(9);
    expect(foreign.stderr).toContain('already has another key of a profile');
    expect(readFileSync(kept, 'utf8')).toBe('second');
    const same = await login(url, 'second', '--keychain', '--no-verify');
    expect(same.exitCode, same.stderr).toBe(0);
  });

  test('removes the key when another login or nothing takes its place', async () => {
    const { home, kept, options, login } = openKeychain(platform);
    const url = 'https://service.example';
    await login(url, 'first', '--keychain', '--no-verify');
    const saved = await login(url, 'second', '--no-verify');
    expect([saved.exitCode, existsSync(kept)], saved.stderr).toEqual([0, false]);
    expect(profilesOf(home).desk).toMatchObject({ key: 'second' });
    await login(url, 'third', '--keychain', '--no-verify');
    const forgotten = await runInProcess('auth logout desk --forget', options);
    expect([forgotten.exitCode, existsSync(kept)], forgotten.stderr).toEqual([0, false]);
    expect(profilesOf(home)).toEqual({});
  });

  test.each([
    ['is locked', 'echo "the collection is locked" >&2; exit 2', 'the collection is locked'],
    [
      'loses what it is given',
      '[ "$1" = -i ] || [ "$1" = store ] && exit 0',
      'does not give back the key',
    ],
    ['says that it has no bus', 'echo "cannot autolaunch" >&2; exit 1', 'cannot autolaunch'],
  ])('saves nothing if the keychain %s', async (_, broken, why) => {
    const { home, login } = openKeychain(platform, broken);
    const run = await login('https://service.example', 'first', '--keychain', '--no-verify');
    expect(run.exitCode).toBe(9);
    expect(run.stderr).toContain(why);
    expect(existsSync(join(home.config, 'config.json'))).toBe(false);
  });

  test('logs out without the tool too, and says what is left', async () => {
    const { home, place, options, login } = openKeychain(platform);
    await login('https://service.example', 'first', '--keychain', '--no-verify');
    place('echo "the collection is locked" >&2; exit 2');
    const out = await runInProcess('auth logout desk', options);
    expect([out.exitCode, profilesOf(home).desk]).toEqual([
      9,
      { baseUrl: 'https://service.example' },
    ]);
    expect(out.stderr).toContain('the collection is locked');
  });
});

test('--keychain says what is missing where the tool is not installed', async () => {
  const home = openHome();
  const words = ['auth', 'login', '--with-key', '--keychain', '--no-verify'];
  const run = await runInProcess([...words, '--base-url', 'https://service.example'], {
    home,
    platform: 'linux',
    key: null,
    stdin: 'first',
    env: { PATH: home.path },
  });
  expect(run.exitCode).toBe(9);
  expect(run.stderr).toContain('secret-tool is not installed');
  expect(run.stderr).toContain('libsecret-tools');
});

test('--keychain is refused on Windows, before the key is asked for', async () => {
  const run = await runInProcess('auth login --keychain', {
    platform: 'win32',
    key: null,
    env: { APPDATA: openHome().path },
  });
  expect(run.exitCode).toBe(2);
  expect(run.stderr).toContain('does not work on Windows');
});

const isReal = has('secret-tool', 'gnome-keyring-daemon', 'dbus-run-session');
test.skipIf(!isReal)('--keychain works with a real keyring', async () => {
  const { sandbox, home } = await openDesk();
  const trdr = `'${process.execPath}' '${program}'`;
  const script = `
printf pass | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
printf %s "$KEY" | ${trdr} auth login --with-key --keychain --base-url '${sandbox.url}'
unset KEY
${trdr} me --fields plan
${trdr} auth logout
secret-tool lookup service trdr profile default || echo gone`;
  const { stdout, stderr } = await execa('dbus-run-session', ['--', 'sh', '-c', script], {
    env: { ...home.env, KEY: sandbox.key },
    extendEnv: false,
    reject: false,
  });
  expect(stdout.trim().split('\n'), stderr).toEqual([expect.stringContaining('Growth'), 'gone']);
  expect(readFileSync(join(home.config, 'config.json'), 'utf8')).not.toContain(sandbox.key);
});
