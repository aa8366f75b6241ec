import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { virtualClock } from '../core/virtual-clock.ts';
import { openDesk, openHome, runInProcess, trdr, withSandbox } from './harness.ts';
import { Rotation } from './rotation.ts';
import { userRecord, withService } from './service.ts';

/** A home with a command that prints the key of a sandbox and counts its runs. */
async function opened() {
  const { sandbox, home } = await openDesk();
  const script = home.at('print-key');
  home.write('count', '');
  writeFileSync(script, `#!/bin/sh\nprintf x >> "$HOME/count"\nprintf '%s\\n' ${sandbox.key}\n`);
  chmodSync(script, 0o700);
  const ran = () => home.read('count').length;
  const options = { home, key: null, env: { TRDR_BASE_URL: sandbox.url } };
  return { sandbox, home, script, ran, options };
}

describe('keyCommand', () => {
  test('provides the key of each run that needs it, once per run', async () => {
    const { script, ran, options, sandbox, home } = await opened();
    const login = await runInProcess(['auth', 'login', '--key-command', script], options);
    expect([login.exitCode, ran()], login.stderr).toEqual([0, 1]);
    expect(readFileSync(join(home.config, 'config.json'), 'utf8')).not.toContain(sandbox.key);
    const status = await runInProcess('auth status', options);
    expect(status.records()).toMatchObject([
      { key: null, keyFrom: 'keyCommand of profile "default"' },
    ]);
    expect(ran()).toBe(1);
    const needy: [number, ...string[]][] = [
      [0, 'whois', 'mira', 'quantumhawk', 'nobody_here'],
      [0, 'pnl', 'mira', '--dry-run'],
      [0, 'pnl', 'mira', '--out', 'pnl.csv'],
      [0, 'thesis', 'tail', '--no-follow', '--backfill', '3'],
      [0, 'cache', 'stats'],
      [0, 'auth', 'status', '--check'],
      [0, 'doctor', '--debug'],
      [3, 'whois', 'nobody_at_all'],
    ];
    const said: string[] = [];
    for (const [exit, ...words] of needy) {
      const before = ran();
      const run = await runInProcess(words, options);
      expect([words, run.exitCode, ran() - before], run.stderr).toEqual([words, exit, 1]);
      said.push(run.stdout, run.stderr);
    }
    expect(said.join('')).toContain('accepted, from keyCommand of profile');
    expect(said.join('')).not.toContain(sandbox.key);
    const files = readdirSync(home.path, { recursive: true, encoding: 'utf8' })
      .map((name) => home.at(name))
      .filter((path) => path !== script && statSync(path).isFile());
    for (const path of files)
      expect(readFileSync(path, 'latin1').includes(sandbox.key), path).toBe(false);
  });

  test('is refused on Windows, with what to use in its place', async () => {
    const { script, ran, options } = await opened();
    const env = { ...options.env, TRDR_KEY_COMMAND: script, USERPROFILE: options.home.path };
    const run = await runInProcess('me', { ...options, env, platform: 'win32' });
    expect([run.exitCode, run.error()['code'], ran()]).toEqual([4, 'SECRET_COMMAND', 0]);
    expect(run.error()['hint']).toContain('TRDR_API_KEY');
  });

  test.each([
    'whois mira --help',
    'schema whois',
    'price',
    'whois mira --sandbox',
    'thesis list --limit 1 --sandbox',
    'usage',
    'config list',
    'completion bash',
    'help money',
    'budget show',
    'pnl --from pnl.csv',
    'whois --nope',
    'pnl --from pnl.csv mira',
    'api /v2/me --max-cu x',
    'auth login --key-command true --no-verify',
  ])('is not run by %s', async (line) => {
    const { script, ran, options, home } = await opened();
    home.write('pnl.csv', 'subject,found\nmira,true\n');
    const env = { ...options.env, TRDR_KEY_COMMAND: script };
    await runInProcess(line, { ...options, env, differs: true });
    expect(ran()).toBe(0);
  });

  test.each([
    ['echo no entry >&2; exit 3', 'failed with exit code 3: no entry'],
    ['nosuchprogram', 'failed with exit code 127'],
    ['kill $$', 'was ended by SIGTERM'],
    ['true', 'printed nothing'],
    ['echo', 'printed nothing'],
    ['while echo y; do :; done', 'printed more than 64 KiB'],
    ['echo one; echo two', 'printed several lines'],
    ['echo two words', 'has invalid characters'],
    ['read -r line && echo "$line"', 'failed with exit code 1'],
    ['echo trdr_live_0123456789abcdef0 >&2; exit 1', 'trdr_live_****'],
  ])('that runs %s exits 4 before any call', async (line, why) => {
    const { sandbox, options } = await opened();
    const env = { ...options.env, TRDR_KEY_COMMAND: line };
    const given = { ...options, env };
    // What stdin is inherited, only a process of its own can show.
    const run = line.startsWith('read')
      ? await trdr('whois mira', { ...given, input: 'secret\n' })
      : await runInProcess('whois mira', given);
    expect([run.exitCode, sandbox.log.length]).toEqual([4, 0]);
    expect(run.error()['message']).toContain(why);
  });

  test('has printed the key when it ends, even if a process in the background holds its output', async () => {
    const { options, sandbox } = await opened();
    const line = `seq 100000 >&2; echo ${sandbox.key}; (sleep 60) & exit 0`;
    const env = { ...options.env, TRDR_KEY_COMMAND: line };
    expect(await runInProcess('me', { ...options, env })).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
  });

  /** A service that knows one key. It takes another one when the first has been used twice. */
  async function rotating(next: string) {
    const keys = ['first', next].map((name) => `trdr_test_${name}_0123456789abcdef0123456789`);
    const home = openHome();
    const file = home.at('key');
    const print = (text = '') => writeFileSync(file, `${text}\n`);
    print(keys[0]);
    let valid = keys[0];
    let used = 0;
    const service = await withService(({ path, request }) => {
      const isValid = request.headers.authorization === `Bearer ${valid}`;
      if (isValid && ++used === 2) {
        valid = `trdr_test_second_0123456789abcdef0123456789`;
        print(keys[1]);
      }
      if (!isValid)
        return { status: 401, body: { error: { code: 'UNAUTHORIZED', message: `no ${keys[0]}` } } };
      return { body: userRecord(path.split('/').at(-1) ?? '') };
    });
    const line = `printf x >> count; cat '${file}'`;
    const env = { TRDR_BASE_URL: service.url, TRDR_KEY_COMMAND: line };
    const ran = await runInProcess(
      ['whois', ...Array.from({ length: 30 }, (_, at) => `trader${at}`), '--no-cache'],
      { home, key: null, env },
    );
    return { ran, keys, runs: home.read('count').length };
  }

  test('is run again when the service rejects the key, and another key continues the run', async () => {
    const { ran, keys, runs } = await rotating('second');
    expect([ran.exitCode, ran.records().length, runs]).toEqual([0, 30, 2]);
    expect(ran.stderr.trim().split('\n')).toEqual([
      'trdr: the service rejected the key; the run continues with another one from TRDR_KEY_COMMAND',
    ]);
    for (const key of keys) expect(ran.stdout + ran.stderr).not.toContain(key);
  });

  test.each([
    ['the same key', 'first'],
    ['another key that the service rejects too', 'third'],
  ])('that prints %s again ends the run', async (_, next) => {
    const { ran, keys, runs } = await rotating(next);
    expect([ran.exitCode, ran.error()['code']]).toEqual([4, 'UNAUTHORIZED']);
    // Once for each key that was rejected; the run may end before a call with the second one was.
    expect([2, next === 'first' ? 2 : 3]).toContain(runs);
    for (const key of keys) expect(ran.stdout + ran.stderr).not.toContain(key);
  });

  test('is ended after 30s', async () => {
    const { options } = await opened();
    const env = { ...options.env, TRDR_KEY_COMMAND: 'sleep 60' };
    const clock = virtualClock(Date.now());
    const run = await runInProcess('whois mira', { ...options, env, clock });
    expect(run.error()).toMatchObject({ exit: 4, message: expect.stringContaining('within 30s') });
  });

  test('comes after TRDR_API_KEY and before a saved key; logout removes it', async () => {
    const { sandbox, script, options, ran } = await opened();
    const withKey = {
      ...options,
      key: sandbox.key,
      env: { ...options.env, TRDR_KEY_COMMAND: 'exit 1' },
    };
    expect((await runInProcess('me', withKey)).exitCode).toBe(0);
    await runInProcess('auth login --with-key', { ...options, stdin: sandbox.key });
    await runInProcess(['config', 'set', 'keyCommand', script], options);
    expect([(await runInProcess('me', options)).exitCode, ran()]).toEqual([0, 1]);
    expect((await runInProcess('config get keyCommand', options)).stdout).toBe(`${script}\n`);
    await runInProcess('auth logout', options);
    expect((await runInProcess('me', options)).error()['code']).toBe('NO_KEY');
  });

  test('is rejected at login if the service rejects its key', async () => {
    const { options } = await opened();
    const wrong = `echo trdr_test_${'0'.repeat(32)}`;
    expect((await runInProcess(['auth', 'login', '--key-command', wrong], options)).exitCode).toBe(
      4,
    );
    expect((await runInProcess('config get keyCommand', options)).stdout).toBe('\n');
    const both = await runInProcess('auth login --key-command true --with-key', options);
    expect(both.exitCode).toBe(2);
  });

  test('keeps its secret from the command of --exec', async () => {
    const { sandbox, script, options } = await opened();
    const env = { ...options.env, TRDR_KEY_COMMAND: script };
    const tail = ['thesis', 'tail', '--no-follow', '--backfill', '1', '--exec', 'env'];
    const run = await trdr(tail, { ...options, env });
    expect([
      run.exitCode,
      run.stdout.includes('TRDR_BATCH'),
      run.stdout.includes(sandbox.key),
    ]).toEqual([0, true, false]);
  });
});

describe('a key that was replaced during a run', () => {
  test.each([
    ['lookups', 'whois solwolf quantumhawk nobody_here'],
    ['a wallet', 'whois WALLET --direct'],
    ['numbers', 'pnl mira'],
    ['numbers of several', 'pnl mira quantumhawk nobody_here'],
    ['resolves', 'resolve solwolf'],
  ])('leaves its answers and those of the former key to the new one: %s', async (_, line) => {
    const sandbox = await withSandbox({ plan: 'scale' });
    const [home, rotation] = [openHome(), new Rotation(sandbox)];
    const wallet = `${sandbox.world.user('solwolf')?.solanaAddress}`;
    const run = (words: string) =>
      home.run(`${words.replace('WALLET', wallet)} --yes`, { key: null, env: rotation.env });
    const kept = 'whois mira';
    await run(kept);
    rotation.renew();
    rotation.revoke();
    const before = rotation.spent;
    rotation.delay();
    const paid = await run(line);
    const spent = rotation.spent;
    expect([paid.exitCode, paid.stderr, spent > before]).toEqual([
      0,
      expect.stringContaining('continues with another one'),
      true,
    ]);
    for (const words of [line, kept]) {
      const again = await run(words);
      expect([words, again.exitCode, rotation.spent], again.stderr).toEqual([words, 0, spent]);
    }
  });
});
