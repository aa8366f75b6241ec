import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { execa } from 'execa';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openPromise } from '../../src/base/calls.ts';
import { some } from '../repeats.ts';
import { openDesk, openHome, startTrdr, withSandbox } from './harness.ts';
import { type InProcessOptions, startInProcess } from './in-process.ts';
import { userRecord, withService } from './service.ts';

const signals = [
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

/** All signals take the same way, so each test uses the next one. */
let used = 0;
const nextSignal = () => signals[used++ % signals.length] ?? signals[0];

/** A run in this process that is sent a signal when it waits. `onStop` is called when it says that it is stopping. */
async function interrupted(
  words: string,
  options: InProcessOptions,
  isWaiting: (stderr: string) => boolean,
  onStop?: () => void,
) {
  const [signal, exit] = nextSignal();
  const run = startInProcess(words, {
    ...options,
    onStderr: (text) => text.includes('stopping') && onStop?.(),
  });
  await expect.poll(() => isWaiting(run.stderr), { timeout: 20_000, interval: 20 }).toBe(true);
  run.kill(signal);
  const ran = await run.ended;
  expect(ran.exitCode).toBe(exit);
  return ran;
}

/**
 * Whether the process has installed its signal handlers. The handler of SIGHUP shows this, because Node
 * itself does not handle SIGHUP.
 */
const isReady = (pid: number): boolean => {
  const caught = /^SigCgt:\s*(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return ((BigInt(`0x${caught}`) >> BigInt(constants.signals.SIGHUP - 1)) & 1n) === 1n;
};
const handleOf = (path: string) => path.split('/').at(-1) ?? '';

describe('a signal', () => {
  test('ends a wait before a retry, and delivers earlier answers', async () => {
    const service = await withService(({ path }) =>
      handleOf(path) === 'mira'
        ? { body: userRecord('mira') }
        : {
            status: 503,
            headers: { 'retry-after': '60' },
            body: { error: { code: 'OVERLOADED', message: '' } },
          },
    );
    const ran = await interrupted('whois mira late', { sandbox: service }, (said) =>
      said.includes('retrying'),
    );
    expect(ran.lines()).toHaveLength(1);
    expect(ran.stderr).toMatch(
      /^trdr: retrying \(1 of 4\) in 1m: OVERLOADED \(503\)\ntrdr: interrupted: 1 of 1 subject found, 100 CU; 1 answer is cached\n$/,
    );
  });

  test('waits for a paid call in flight with a notice, and delivers and caches its answer', async () => {
    const isStopping = openPromise();
    const service = await withService(async ({ path }) => {
      if (handleOf(path) === 'late') await isStopping.promise;
      return { body: userRecord(handleOf(path)) };
    });
    const home = openHome();
    const ran = await interrupted(
      'whois mira late --timeout 10m',
      { sandbox: service, home },
      () => service.calls.length === 2,
      isStopping.resolve,
    );
    expect(ran.records().map(({ handle }) => handle)).toEqual(['mira', 'late']);
    expect(ran.stderr).toMatch(
      /^trdr: stopping: waiting up to (599|600)s for a paid call in flight; a second signal exits at once and loses its answer\ntrdr: interrupted: 2 of 2 subjects found, 200 CU; 2 answers are cached\n$/,
    );
    const again = await home.run('whois mira late', { sandbox: service });
    expect([again.exitCode, service.calls.length]).toEqual([0, 2]);
  });

  test('writes the rows of a file before the answer in flight arrives', async () => {
    const isWritten = openPromise();
    const service = await withService(async ({ path }) => {
      if (path.includes('before=')) await isWritten.promise;
      return { body: { items: [{ id: 'newest' }], hasMore: true, nextBefore: 'newest' } };
    });
    const home = openHome();
    const [signal, exit] = nextSignal();
    const line = 'thesis list --limit 300 --timeout 10m --out all.ndjson';
    const run = startInProcess(line, { sandbox: service, home });
    onTestFinished(isWritten.resolve);
    await expect.poll(() => service.calls.length).toBe(2);
    run.kill(signal);
    const written = () =>
      readdirSync(home.path)
        .filter((name) => name.endsWith('.tmp'))
        .map((name) => home.read(name))
        .join('');
    await expect.poll(written).toBe('{"id":"newest"}\n');
    isWritten.resolve();
    expect((await run.ended).exitCode).toBe(exit);
  });

  test('sends no further call', async () => {
    const isStopping = openPromise();
    const service = await withService(async ({ path }) => {
      await isStopping.promise;
      return { body: { items: [], hasMore: true, nextBefore: `${path.length}` } };
    });
    await interrupted(
      'thesis list --all --yes --timeout 10m',
      { sandbox: service },
      () => service.calls.length === 1,
      isStopping.resolve,
    );
    expect(service.calls).toHaveLength(1);
  });

  test('exits immediately when it comes twice, even with calls in flight', async () => {
    const [signal, exit] = nextSignal();
    const service = await withService(({ path }) =>
      handleOf(path) === 'mira' ? { body: userRecord('mira') } : undefined,
    );
    const child = startTrdr('whois mira never --timeout 10m', { sandbox: service });
    let again: NodeJS.Timeout | undefined;
    child.stderr.on('data', (part: Buffer) => {
      // A repetition within a tenth of a second counts as the same signal.
      if (part.includes('stopping')) again ??= setInterval(() => child.kill(signal), 50);
    });
    await expect.poll(() => service.calls.length, { timeout: 20_000 }).toBe(2);
    child.kill(signal);
    const { exitCode, stdout } = await child;
    clearInterval(again);
    expect([exitCode, stdout.split('\n').length]).toEqual([exit, 2]);
  });

  test('ends a wait for stdin, and for a FIFO without a writer', async () => {
    const [signal, exit] = nextSignal();
    const { sandbox, home } = await openDesk();
    await execa('mkfifo', [home.at('fifo')]);
    const waits = [
      ['whois', '-'],
      ['pnl', '-'],
      ['whois', '--file', 'fifo'],
      ['verify', 'fifo'],
      ['thesis', 'list', '--out', 'fifo'],
      ['thesis', 'tail', '--replay', 'fifo'],
      ['auth', 'login', '--with-key'],
      ['api', '/v2/me', '--input', '-'],
    ];
    for (const words of some(waits, 2)) {
      const child = startTrdr([...words, '--debug'], { sandbox, home });
      child.stdin.write('mira\n');
      await expect.poll(() => isReady(child.pid ?? 0), { timeout: 20_000 }).toBe(true);
      child.kill(signal);
      const { exitCode, stdout } = await child;
      expect([words, exitCode, stdout, sandbox.log.length]).toEqual([words, exit, '', 0]);
    }
  });

  test('leaves the file of --out unchanged, and saves the paid rows next to it', async () => {
    const home = openHome();
    const fileOf = (name: string) => home.at(name);
    writeFileSync(fileOf('all.ndjson'), 'old\n');
    const sandbox = await withSandbox({ faults: '429@thesis.all+3=100%:60s' });
    const line = 'thesis list --limit 400 --out all.ndjson';
    const ran = await interrupted(line, { sandbox, home }, (said) => said.includes('waiting'));
    expect(ran.stdout).toBe('');
    expect(readFileSync(fileOf('all.ndjson'), 'utf8')).toBe('old\n');
    const files = readdirSync(home.path).filter((name) => name.includes('all'));
    expect(files.sort()).toEqual(['all.ndjson', 'all.ndjson.partial']);
    const rows = readFileSync(fileOf('all.ndjson.partial'), 'utf8').trim().split('\n');
    expect(rows.length * 10).toBe(sandbox.meter().totalUnits);
    expect(ran.stderr).toMatch(
      /all\.ndjson was not replaced; the rows that were paid for are in \S*all\.ndjson\.partial/,
    );
  });

  test('ends a run with a blocked reader', async () => {
    const [signal, exit] = nextSignal();
    const sandbox = await withSandbox({
      theses: 4_000,
      ratePerMinute: 100_000,
      burstPerSecond: 100_000,
    });
    const child = startTrdr('thesis list --all --yes', { sandbox });
    child.stdout.pause();
    let said = '';
    child.stderr.on('data', (part: Buffer) => {
      said += part.toString();
    });
    // On a busy machine, a walk may also rest for a while.
    const seen: number[] = [];
    const isStill = () => {
      seen.push(sandbox.log.length);
      return (
        seen.length > 10 && seen.slice(-10).every((calls) => calls > 1 && calls === seen.at(-1))
      );
    };
    await expect.poll(isStill, { interval: 200, timeout: 60_000 }).toBe(true);
    // A full pipe pauses the walk.
    expect(sandbox.log.length).toBeLessThan(100);
    child.kill(signal);
    const left = await new Promise((resolve) => child.once('exit', (code) => resolve(code)));
    expect(left).toBe(exit);
    expect(said).toContain('stdout is blocked');
    child.stdout.destroy();
  });
});

const harmless = ['SIGUSR1', 'SIGUSR2'] as const;
test.each(harmless)('%s opens no debugger and ends nothing', async (signal) => {
  const isSent = openPromise();
  const service = await withService(async () => {
    await isSent.promise;
    return { body: userRecord('mira') };
  });
  const child = startTrdr('whois mira', { sandbox: service });
  await expect.poll(() => service.calls.length, { timeout: 20_000 }).toBe(1);
  for (let times = 0; times < 3; times++) child.kill(signal);
  isSent.resolve();
  const { exitCode, stdout, stderr } = await child;
  expect([exitCode, JSON.parse(stdout).handle, stderr]).toEqual([0, 'mira', '']);
});

describe('a confirmation prompt', () => {
  const wallets = Array.from({ length: 5 }, (_, index) => `${'1'.repeat(31)}${index + 2}`);

  test('is ended by SIGINT, and nothing is charged', async () => {
    const { sandbox, run } = await openDesk();
    const ending = new AbortController();
    const ran = await run(['whois', ...wallets], {
      tty: true,
      typed: [],
      interrupt: ending.signal,
      onStderr: (said) => said.includes('Continue?') && ending.abort(),
    });
    expect([ran.exitCode, ran.stdout]).toEqual([130, '']);
    // The balance in the question comes from `me`, which is free.
    expect(sandbox.log.map(({ endpoint }) => endpoint)).toEqual(['me']);
    expect(ran.said).toContain('Continue? [y/N]');
  });
});
