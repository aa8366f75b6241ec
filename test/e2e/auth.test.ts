import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { maskKey } from '../../src/core/client/mask-key.ts';
import { repeats } from '../repeats.ts';
import { has } from '../tools.ts';
import { type Home, openDesk, openHome, programEnv, runInProcess, trdr } from './harness.ts';
import { program } from './program.ts';

const configOf = (home: Home) => JSON.parse(readFileSync(join(home.config, 'config.json'), 'utf8'));

const URL_OF_DESK = 'https://desk.example.com';
const KEY = 'aa_live_0123456789abcdef';
/** How often a secret is typed as soon as it is asked for. */
const TYPED = repeats('TYPED_ROUNDS', 2, 20);
const EARLY = 'trdr_live_fedcba9876543210fedcba9876543210';

/** Saves a key unverified, as a script does. */
const save = (home: Home, { key = KEY, url = URL_OF_DESK, profile = 'default' } = {}) =>
  home.run(
    ['auth', 'login', '--with-key', '--no-verify', '--profile', profile, '--base-url', url],
    {
      stdin: key,
    },
  );

describe('trdr auth login', () => {
  test('saves a key from stdin that the service accepts, and later commands use it', async () => {
    const { sandbox, home } = await openDesk({ plan: 'builder' });
    const login = await trdr(['auth', 'login', '--with-key', '--base-url', sandbox.url], {
      home,
      input: `${sandbox.key}\n`,
    });
    expect([login.exitCode, login.stdout]).toEqual([0, '']);
    expect(login.stderr).toContain(
      `${maskKey(sandbox.key)} for ${sandbox.url} to profile "default"`,
    );
    expect(configOf(home)).toMatchObject({
      current: 'default',
      profiles: { default: { key: sandbox.key, baseUrl: sandbox.url } },
    });
    expect((await home.run('me --json')).json()).toMatchObject({
      entitlement: { monthlyUnits: 5_000_000 },
    });
  });

  /** What is typed at the prompts of a login, and what the login says about it. */
  const logins = ({ url, key, port }: { url: string; key: string; port: number }) => ({
    'a URL and a key': { typed: [`${url}\r`, `${key}\r`] },
    'invalid URLs first': {
      typed: [
        'aa_live_0123456789\r',
        'http://other.example\r',
        `${url}/?q\r`,
        `${url}/\r`,
        `${key}\r`,
      ],
      says: [
        'invalid base URL: it must start with https:// (or http:// for localhost)',
        'plain http to other.example would send the key unencrypted',
        'invalid base URL: it has a query or a fragment',
      ],
    },
    'another URL, but not the key again, if the service cannot be reached': {
      flags: ['--base-url', `https://127.0.0.1:${port}`],
      typed: [`${key}\r`, '\r', 'ftp://nowhere\r', `127.0.0.1:${port}\r`],
      says: [
        'does not use TLS',
        'does not use TLS',
        'invalid base URL: it must start with https:// (or http:// for localhost)',
      ],
    },
    'nothing before the prompts, which discard it': {
      typedAhead: `https://early.example\r${EARLY}\r`,
      typed: [`${url}\r${EARLY}\r`, `${key}\r`],
    },
  });
  type Login = {
    readonly typed: readonly string[];
    readonly flags?: readonly string[];
    readonly typedAhead?: string;
    readonly says?: readonly string[];
  };

  test.each(Object.keys(logins({ url: '', key: '', port: 0 })))(
    'prompts on a terminal, and never shows the key: %s',
    async (how) => {
      const { sandbox, home } = await openDesk();
      const all: Readonly<Record<string, Login>> = logins(sandbox);
      const { flags = [], says = [], ...typing } = all[how] ?? expect.unreachable();
      const login = await home.run(['auth', 'login', ...flags], { tty: true, ...typing });
      expect(login.exitCode).toBe(0);
      const said = /(?:invalid base URL: |plain http to )[^;\n]*|does not use TLS/g;
      expect(login.stderr.match(said) ?? []).toEqual(says);
      expect(login.stderr.match(/API key \(input hidden\): \n/g)).toHaveLength(1);
      expect(login.stderr).not.toMatch(new RegExp(`${sandbox.key}|${EARLY}|early`));
      // Raw mode during each prompt, so that the terminal echoes nothing.
      expect(login.rawModes.join()).toMatch(/^(true,true,false,?)+$/);
      expect(configOf(home).profiles.default).toEqual({ key: sandbox.key, baseUrl: sandbox.url });
    },
  );

  test.each([
    ['api.example.com/b2b', 'https://api.example.com/b2b'],
    ['127.0.0.1.example.com:8787', 'https://127.0.0.1.example.com:8787'],
    ['192.168.0.1:8787', 'https://192.168.0.1:8787'],
    ['127.0.0.1:8787', 'http://127.0.0.1:8787'],
    ['localhost:8787/b2b/', 'http://localhost:8787/b2b'],
    ['LOCALHOST', 'http://localhost'],
    ['api.localhost:8787', 'http://api.localhost:8787'],
    ['[::1]:8787', 'http://[::1]:8787'],
    ['https://127.0.0.1:8787', 'https://127.0.0.1:8787'],
  ])('reads the bare host %s as %s', async (given, url) => {
    const home = openHome();
    expect((await save(home, { url: given })).exitCode).toBe(0);
    expect(configOf(home).profiles.default.baseUrl).toBe(url);
  });

  test.each([
    ['ftp://api.example.com', 'it must start with https:// (or http:// for localhost)'],
    ['desk', 'it must start with https:// (or http:// for localhost)'],
    ['https://', 'it is not a valid URL'],
    ['https://u:secret@api.example.com', 'it contains a user name or password'],
    ['https://api.example.com/?key=secret', 'it has a query or a fragment'],
    ['https://api example.com', 'it contains a space or a backslash'],
  ])('rejects --base-url %s, also on a terminal, with a reason', async (url, why) => {
    const { exitCode, stderr } = await runInProcess(['auth', 'login', '--base-url', url], {
      tty: true,
    });
    expect(exitCode).toBe(2);
    expect(stderr.replace(/\s+/g, ' ')).toContain(`invalid base URL for --base-url: ${why}`);
    expect(stderr).not.toContain('secret');
  });

  test('exits 130 after Ctrl-C at the prompt, and restores the terminal', async () => {
    const login = await runInProcess(['auth', 'login', '--base-url', URL_OF_DESK], {
      tty: true,
      typed: ['half a key\u0003'],
    });
    expect([login.exitCode, login.rawModes]).toEqual([130, [true, true, false]]);
    expect(login.stderr).not.toContain('half');
  });

  test.skipIf(!has('script')).each([
    ['auth login', ['auth', 'login', '--no-verify', '--base-url', URL_OF_DESK]],
    ['store login', ['store', 'login', 'redis://desk@127.0.0.1:1', '--no-verify']],
  ])('hides a secret that a script types as soon as %s asks for it', async (_, words) => {
    const secret = 'trdr_live_0123456789abcdef0123456789abcdef';
    for (let round = 0; round < TYPED; round++) {
      const home = openHome();
      const command = [process.execPath, program, ...words].map((word) => `'${word}'`).join(' ');
      const child = execa('script', ['-qec', command, '/dev/null'], {
        env: programEnv({ home }),
        extendEnv: false,
        cwd: home.path,
        reject: false,
        stdin: 'pipe',
      });
      let screen = '';
      let isAnswered = false;
      child.stdout.on('data', (part: Buffer) => {
        screen += part.toString();
        if (isAnswered || !screen.includes('(input hidden')) return;
        isAnswered = true;
        child.stdin.write(`${secret}\r`);
      });
      expect((await child).exitCode, screen).toBe(0);
      expect(screen).not.toContain('0123456789abcdef0');
      expect(readFileSync(join(home.config, 'config.json'), 'utf8')).toContain(secret);
    }
  });

  test('saves nothing if the input ends at the prompt', async () => {
    const home = openHome();
    const login = await home.run(['auth', 'login', '--base-url', URL_OF_DESK], {
      tty: { stdin: true, stderr: true },
      typed: ['\u0004'],
    });
    expect(login.exitCode).toBe(4);
    expect(login.stderr).toContain('NO_KEY');
    expect(existsSync(home.config)).toBe(false);
  });

  test('does not save a key that the service rejects', async () => {
    const { sandbox, home } = await openDesk();
    const wrong = KEY;
    const login = await home.run(['auth', 'login', '--with-key', '--base-url', sandbox.url], {
      stdin: wrong,
    });
    expect(login.exitCode).toBe(4);
    expect(login.error()).toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
    expect(login.stderr).not.toContain(wrong);
    expect(existsSync(join(home.config, 'config.json'))).toBe(false);
  });

  test('saves a key unverified with --no-verify', async () => {
    const home = openHome();
    expect((await save(home, { key: `\uFEFF  ${KEY}\r\n`, url: `${URL_OF_DESK}/` })).exitCode).toBe(
      0,
    );
    expect(configOf(home).profiles.default).toEqual({ key: KEY, baseUrl: URL_OF_DESK });
  });

  test.each([
    ['', 'is empty'],
    ['two words', 'invalid characters'],
    ['"trdr_test_0123456789"', 'in quotes'],
    ['x'.repeat(10_000), 'the input on stdin is larger'],
  ])('rejects an invalid key', async (input, why) => {
    const home = openHome();
    const { exitCode, error } = await save(home, { key: input });
    expect([2, 4]).toContain(exitCode);
    expect(error()['message']).toContain(why);
    expect(existsSync(home.config)).toBe(false);
  });

  const masks = [0o000, 0o077, 0o777];
  test.each(masks)('creates a private file and folder under umask %o', async (mask) => {
    const home = openHome();
    const before = process.umask(mask);
    try {
      expect((await save(home)).exitCode).toBe(0);
    } finally {
      process.umask(before);
    }
    expect(statSync(home.config).mode & 0o777).toBe(0o700);
    expect(statSync(join(home.config, 'config.json')).mode & 0o777).toBe(0o600);
  });
});

describe('trdr auth status', () => {
  test('shows every profile with masked keys, and where each value comes from', async () => {
    const home = openHome();
    await save(home, { url: 'https://one.example.com' });
    await save(home, {
      url: 'https://two.example.com',
      key: 'aa_test_0123456789fedcba',
      profile: 'two',
    });
    const { exitCode, json } = await home.run('auth status --json');
    expect(exitCode).toBe(0);
    const rowOf = (profile: string, kind: string, end: string) => ({
      profile,
      current: profile === 'default',
      baseUrl: `https://${profile === 'default' ? 'one' : 'two'}.example.com`,
      baseUrlFrom: `profile ${profile}`,
      key: `aa_${kind}_****${end}`,
      keyFrom: `profile ${profile}`,
      mode: kind,
    });
    expect(json()).toEqual([rowOf('default', 'live', 'cdef'), rowOf('two', 'test', 'dcba')]);
    const withEnv = await home.run('auth status --json --base-url https://flag.example.com', {
      key: 'bb_live_0123456789abcdef',
    });
    expect(withEnv.json()).toMatchObject([
      { baseUrlFrom: '--base-url', key: 'bb_live_****cdef', keyFrom: 'TRDR_API_KEY' },
      { keyFrom: 'profile two' },
    ]);
  });

  test('exits 4 without a key', async () => {
    const { exitCode, stdout, error } = await runInProcess('auth status --json');
    expect([exitCode, stdout.trim(), error()['code']]).toEqual([4, '[]', 'NO_KEY']);
  });

  test('verifies each key with --check', async () => {
    const { sandbox, home } = await openDesk();
    await save(home, sandbox);
    await save(home, { url: sandbox.url, profile: 'bad' });
    const good = await home.run('auth status --check --json');
    expect(good.exitCode).toBe(0);
    expect(good.json()).toMatchObject([
      { profile: 'default', check: 'ok' },
      { profile: 'bad', check: 'UNAUTHORIZED' },
    ]);
    const seen = await home.run('auth status --check', { tty: true, columns: 80 });
    expect(seen.stdout).toContain('failed: UNAUTHORIZED');
    const bad = await home.run('auth status --check --json --profile bad');
    expect([bad.exitCode, bad.error()['code']]).toEqual([4, 'UNAUTHORIZED']);
  });
});

test('a key that was saved for another service causes a warning if a flag sends it elsewhere', async () => {
  const { sandbox, home } = await openDesk();
  await save(home, { key: sandbox.key });
  const { stderr, exitCode } = await home.run(['me', '--base-url', sandbox.url]);
  expect(exitCode).toBe(0);
  expect(stderr).toContain(`sending the key saved for ${URL_OF_DESK} to ${sandbox.url}`);
});

describe('trdr auth switch and logout', () => {
  const withTwo = async () => {
    const home = openHome();
    for (const profile of ['one', 'two']) await save(home, { profile });
    return home;
  };

  test('change the profile of later commands', async () => {
    const home = await withTwo();
    expect(configOf(home).current).toBe('one');
    expect((await home.run('auth switch two')).exitCode).toBe(0);
    expect(configOf(home).current).toBe('two');
    expect((await home.run('config get profile')).stdout).toBe('two\n');
  });

  test('warn if TRDR_PROFILE names a different profile', async () => {
    const home = await withTwo();
    const switched = (named: string) =>
      home.run('auth switch two', { env: { TRDR_PROFILE: named } });
    expect((await switched('one')).stderr).toContain('commands use profile "one" instead');
    expect((await switched('two')).stderr).not.toContain('TRDR_PROFILE');
  });

  test('suggest a similar profile', async () => {
    const home = await withTwo();
    for (const words of ['auth switch tow', 'auth logout tow', 'me --profile tow']) {
      const { exitCode, error } = await home.run(words);
      expect(exitCode).toBe(2);
      expect(error()).toMatchObject({
        code: 'NO_PROFILE',
        hint: expect.stringContaining('Did you mean "two"?'),
      });
    }
  });

  test('remove only the key, or the whole profile', async () => {
    const home = await withTwo();
    expect((await home.run('auth logout')).exitCode).toBe(0);
    expect(configOf(home).profiles.one).toEqual({ baseUrl: URL_OF_DESK });
    expect((await home.run('me')).exitCode).toBe(4);
    expect((await home.run('auth logout one --forget')).exitCode).toBe(0);
    expect(Object.keys(configOf(home).profiles)).toEqual(['two']);
  });
});
