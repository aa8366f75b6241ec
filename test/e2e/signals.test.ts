import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openHome, type RunOptions, runInProcess, startTrdr, withSandbox } from './harness.ts';
import { withService } from './service.ts';

const signals = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

/** Starts the program, waits until it waits, sends the signal, and gives what became of it. */
async function interrupted(
  words: readonly string[],
  options: RunOptions,
  signal: 'SIGINT' | 'SIGTERM',
  waits: (stderr: string) => boolean,
) {
  const child = startTrdr(words, options);
  let said = '';
  child.stderr.on('data', (part: Buffer) => {
    said += part.toString();
  });
  if (options.input !== undefined) child.stdin.end(options.input);
  await expect.poll(() => waits(said), { timeout: 20_000, interval: 20 }).toBe(true);
  child.kill(signal);
  const { exitCode, stdout, stderr } = await child;
  return { exitCode, stdout, stderr, lines: stdout.split('\n').filter((line) => line !== '') };
}

const held = (handle: string) => ({
  id: '7d0a0f3e-7a55-4c0e-9a36-6f0f5f0e8f10',
  handle,
  name: null,
  bio: null,
  banner: null,
  profilePicture: null,
  twitter: null,
  solanaAddress: null,
  evmAddress: null,
});
const miss = { status: 404, body: { error: { code: 'NOT_OBSERVED', message: 'none' } } };
const handleOf = (path: string) => path.split('/').at(-1) ?? '';

describe.each(signals)('%s', (signal, exit) => {
  test('ends a wait for the rate limit, and delivers what was answered', async () => {
    const home = openHome();
    const sandbox = await withSandbox({ ratePerMinute: 10 });
    const words = ['whois', 'mira', ...Array.from('abcdefghijkl', (letter) => `nobody_${letter}`)];
    const ran = await interrupted(words, { sandbox, home }, signal, (said) => said.includes('waiting'));
    expect(ran.exitCode).toBe(exit);
    const paid = sandbox.log.filter(({ cu }) => cu > 0).length;
    expect(sandbox.log.filter(({ status }) => status === 429)).toEqual([]);
    expect(paid).toBeGreaterThan(0);
    expect(ran.lines).toHaveLength(paid);
    expect(ran.stderr).toMatch(/^trdr: waiting .*10 requests a minute\n$/);
  });

  test('ends a wait before a retry, and delivers what was answered', async () => {
    const service = await withService(({ path }) =>
      handleOf(path) === 'mira'
        ? { body: held('mira') }
        : {
            status: 503,
            headers: { 'retry-after': '60' },
            body: { error: { code: 'OVERLOADED', message: '' } },
          },
    );
    const ran = await interrupted(['whois', 'mira', 'late'], { sandbox: service }, signal, (said) =>
      said.includes('trying again'),
    );
    expect([ran.exitCode, ran.lines.length]).toEqual([exit, 1]);
    expect(ran.stderr).toMatch(/^trdr: trying again \(1 of 4\) in 1m: OVERLOADED \(503\)\n$/);
  });

  test('ends a request in flight, and says what it may have cost', async () => {
    let hanging = 0;
    const service = await withService(({ path }) => {
      if (handleOf(path) === 'mira') return { body: held('mira') };
      hanging++;
      return undefined;
    });
    const ran = await interrupted(
      ['whois', 'mira', 'late'],
      { sandbox: service },
      signal,
      () => hanging === 1,
    );
    expect([ran.exitCode, ran.lines.length]).toEqual([exit, 1]);
    expect(ran.stderr).toBe(
      'trdr: the answer of user.handle was lost on the way: up to 200 CU may have been charged\n',
    );
  });

  test('ends the wait of a resolve, and delivers what was answered', async () => {
    const service = await withService(({ method, path }) => {
      if (handleOf(path) === 'mira') return { body: { ...held('mira'), solanaAddress: '1'.repeat(32) } };
      if (method === 'GET') return miss;
      const body = { pending: true, reason: 'queued', retryable: true, retryAfterSeconds: 40, position: 2 };
      return { status: 202, body };
    });
    const words = ['resolve', 'mira', 'slowpoke', '-q'];
    const ran = await interrupted(words, { sandbox: service }, signal, () =>
      service.calls.some((call) => call.startsWith('POST')),
    );
    expect([ran.exitCode, ran.lines.length, ran.stderr]).toEqual([exit, 1, '']);
  });

  test('ends a wait for stdin', async () => {
    const sandbox = await withSandbox();
    // One that is read is answered only after the end of the input, or ten thousand lines.
    const child = startTrdr(['whois', '-'], { sandbox });
    child.stdin.write('mira\n');
    const again = setInterval(() => child.kill(signal), 500);
    const { exitCode, stdout, stderr } = await child;
    clearInterval(again);
    expect([exitCode, stdout, stderr, sandbox.log.length]).toEqual([exit, '', '', 0]);
  });

  test('leaves the old file and nothing beside it where --out was given', async () => {
    const home = openHome();
    writeFileSync(join(home.path, 'all.ndjson'), 'old\n');
    const sandbox = await withSandbox({ faults: 'delay@thesis.all+3=60s' });
    const words = ['thesis', 'list', '--limit', '400', '--out', 'all.ndjson'];
    const ran = await interrupted(
      words,
      { sandbox, home },
      signal,
      () => sandbox.log.length >= 3 && sandbox.state().inFlight === 1,
    );
    expect([ran.exitCode, ran.stdout]).toEqual([exit, '']);
    expect(readFileSync(join(home.path, 'all.ndjson'), 'utf8')).toBe('old\n');
    expect(readdirSync(home.path).filter((name) => name.includes('all'))).toEqual(['all.ndjson']);
  });

  test('leaves no lock and no temporary file in the folders of trdr', async () => {
    const home = openHome();
    const sandbox = await withSandbox({ ratePerMinute: 3 });
    const words = ['whois', 'mira', ...Array.from('abcdefghijkl', (letter) => `nobody_${letter}`)];
    await interrupted(words, { sandbox, home }, signal, (said) => said.includes('waiting'));
    const left = readdirSync(home.path, { recursive: true, encoding: 'utf8' });
    expect(left.filter((name) => /\.(lock|tmp)|~/.test(name))).toEqual([]);
  });

  test('ends a run whose reader takes nothing any more', async () => {
    const sandbox = await withSandbox({ theses: 20_000, ratePerMinute: 100_000, burstPerSecond: 100_000 });
    const child = startTrdr(['thesis', 'list', '--all', '--yes'], { sandbox });
    child.stdout.pause();
    let seen = -1;
    await expect
      .poll(
        () => {
          const before = seen;
          seen = sandbox.log.length;
          return seen > 1 && seen === before;
        },
        { interval: 300, timeout: 20_000 },
      )
      .toBe(true);
    child.kill(signal);
    const left = await new Promise((resolve) => child.once('exit', (code) => resolve(code)));
    expect(left).toBe(exit);
    child.stdout.destroy();
  });

  test('ends at once when it comes twice', async () => {
    const sandbox = await withSandbox({ theses: 20_000, ratePerMinute: 100_000, burstPerSecond: 100_000 });
    const child = startTrdr(['thesis', 'list', '--all', '--yes'], { sandbox });
    child.stdout.pause();
    await expect.poll(() => sandbox.log.length, { timeout: 20_000 }).toBeGreaterThan(3);
    // One that comes while the process is on its way out ends it by itself: a shell sees the same number.
    const left = new Promise((resolve) => child.once('exit', (code) => resolve(code ?? exit)));
    // Two that come in the same moment may reach the program as one.
    const again = setInterval(() => child.kill(signal), 50);
    expect(await left).toBe(exit);
    clearInterval(again);
    child.stdout.destroy();
  });
});

test('SIGUSR1 opens no debugger', async () => {
  let release = () => {};
  const service = await withService(
    () =>
      new Promise((resolve) => {
        release = () => resolve({ body: held('mira') });
      }),
  );
  const child = startTrdr(['whois', 'mira'], { sandbox: service });
  await expect.poll(() => service.calls.length, { timeout: 20_000 }).toBe(1);
  for (let times = 0; times < 3; times++) child.kill('SIGUSR1');
  release();
  const { exitCode, stdout, stderr } = await child;
  expect([exitCode, JSON.parse(stdout).handle, stderr]).toEqual([0, 'mira', '']);
});

describe('a question', () => {
  const wallets = Array.from({ length: 5 }, (_, index) => `${'1'.repeat(31)}${index + 2}`);

  test('is ended by SIGINT, and nothing is sent', async () => {
    const sandbox = await withSandbox();
    const ending = new AbortController();
    const ran = await runInProcess(['whois', ...wallets], {
      sandbox,
      tty: true,
      typed: '',
      interrupt: ending.signal,
      hear: (said) => said.includes('Go on?') && ending.abort(),
    });
    expect([ran.exitCode, ran.stdout, sandbox.log.length]).toEqual([130, '', 0]);
    expect(ran.stderr).toContain('Go on? [y/N]');
  });

  test('is ended by Ctrl-C typed on the keyboard', async () => {
    const sandbox = await withSandbox();
    const ran = await runInProcess(['whois', ...wallets], { sandbox, tty: true, typed: '\u0003' });
    expect([ran.exitCode, ran.stdout, sandbox.log.length]).toEqual([130, '', 0]);
    expect(ran.rawModes.at(-1)).toBe(false);
  });
});
