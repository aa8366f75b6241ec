import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plenty, until } from './feed.ts';
import { openDesk, type openHome, runInProcess, startTrdr, withSandbox } from './harness.ts';
import { startInProcess } from './in-process.ts';

const poll = ['--via', 'poll', '--lag', '200ms'];

type Run = Readonly<Record<string, unknown>>;

/** What `trdr tails` says without a key, by the output of each tail. */
async function tailsOf(home: ReturnType<typeof openHome>): Promise<Record<string, Run>> {
  const ran = await runInProcess('tails --all', { home });
  expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
  return Object.fromEntries(ran.records().map((run) => [String(run['output']), run]));
}

/** Waits until `trdr tails` shows a tail as the condition wants it. A tail notes its state every ten seconds at most. */
async function shown(home: ReturnType<typeof openHome>, output: string, is: (run: Run) => boolean) {
  let run: Run = {};
  await until(
    async () => {
      run = (await tailsOf(home))[output] ?? {};
      return is(run);
    },
    100_000,
    250,
  );
  return run;
}

test('shows three tails: one runs, one waits for its budget, one was killed; and how they end', async () => {
  const { home, sandbox } = await openDesk(plenty);
  const options = { home, sandbox };
  expect((await runInProcess('tails -o table', options)).said).toContain(
    'no tail or relay has run',
  );
  const out = (name: string) => home.at(name);
  const start = (line: string) => startInProcess(`${line} --lag 200ms --yes`, options);
  const words = ['thesis', 'tail', ...poll, '--out', out('a.ndjson'), '--user', 'mira', '--yes'];
  const killed = startTrdr(words, options);
  const running = start('launchpad tail --out b.ndjson --max-cu 1M');
  const isPolling = ({ state, verifiedAt }: Run) => state === 'polling' && verifiedAt !== null;
  expect(await shown(home, out('a.ndjson'), isPolling)).toMatchObject({
    command: 'thesis tail',
    feed: 'theses by mira',
    words: 'polling',
    pid: killed.pid,
    left: null,
    exit: null,
  });
  const callouts = await shown(home, out('b.ndjson'), isPolling);
  expect(callouts).toMatchObject({ feed: 'callouts', leftOf: 'run', endedAt: null });
  expect(Number(callouts['left']) + Number(callouts['cuToday'])).toBe(1_000_000);
  killed.kill('SIGKILL');
  await killed;
  expect((await tailsOf(home))[out('a.ndjson')]).toMatchObject({ state: 'killed', exit: null });

  const login = ['auth', 'login', '--with-key', '--no-verify', '--profile', 'small'];
  await runInProcess([...login, '--base-url', sandbox.url], { home, stdin: sandbox.key });
  await runInProcess('budget set day 500 --profile small', options);
  const waiting = start('thesis tail --via poll --checkpoint c --wait-for-budget --profile small');
  const wait = await shown(home, 'stdout', ({ words }) => String(words).startsWith('waiting'));
  expect(wait).toMatchObject({
    state: 'waiting',
    words: expect.stringMatching(/^waiting until .* UTC for units/),
    leftOf: 'day',
  });
  const drawn = async (columns: string, ...flags: string[]) =>
    (
      await runInProcess(['tails', '-o', 'table', ...flags], {
        ...{ home, cwd: home.at('..'), env: { COLUMNS: columns } },
      })
    ).stdout;
  const narrow = await drawn('80');
  expect(narrow).toMatch(/^output .* verified/);
  expect(narrow).toMatch(/^…?[^/\s]*\/?b\.ndjson /m);
  const table = await runInProcess('tails -o table', { home, env: { COLUMNS: '200' } });
  expect(table.stdout).toMatch(/waiting until .* UTC/);
  expect(table.stdout).toMatch(/killed, last seen \S+ ago/);
  waiting.kill('SIGTERM');
  running.kill('SIGINT');
  await Promise.all([waiting.ended, running.ended]);
  expect(await drawn('80')).not.toContain('b.ndjson');
  expect(await drawn('80', '--all')).toContain('b.ndjson');
  const ended = await tailsOf(home);
  expect(ended['stdout']).toMatchObject({ state: 'ended', exit: 143, reason: 'SIGTERM' });
  expect(ended[out('b.ndjson')]).toMatchObject({ words: 'stopped by SIGINT', exit: 130 });
  expect(Object.keys(ended)).toHaveLength(3);
  const folder = join(home.state, 'tails');
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.json')))
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
});

test('says that a service does not respond, and why a tail has failed', async () => {
  const { sandbox, home } = await openDesk({ ...plenty, faults: 'OVERLOADED@thesis.*+2' });
  const words = ['thesis', 'tail', ...poll, '--retries', '0', '--yes'];
  const tail = startInProcess(words, { home, sandbox });
  const failing = await shown(home, 'stdout', ({ words }) => String(words).includes('respond'));
  expect(failing).toMatchObject({
    state: 'polling',
    words: 'polling · the service does not respond',
  });
  tail.kill('SIGTERM');
  await tail.ended;
  const low = 'launchpad tail --lag 200ms --max-cu 20 --out x.ndjson';
  expect((await runInProcess(low, { home, sandbox: await withSandbox(plenty) })).exitCode).toBe(6);
  expect((await tailsOf(home))[home.at('x.ndjson')]).toMatchObject({
    words: 'failed: CEILING (exit 6)',
    cuToday: 20,
    left: 0,
  });
});

test('damaged notes of earlier runs stop neither a tail nor the list of tails', async () => {
  const { home, run } = await openDesk(plenty);
  mkdirSync(home.at('state/tails'), { recursive: true, mode: 0o700 });
  for (const text of ['', '{', '{"identity":"x","record":{}}', '\0'.repeat(100_000)])
    home.write(`state/tails/run-1-${text.length}.json`, text);
  const ran = await run('thesis tail --no-follow --backfill 3');
  expect([ran.exitCode, ran.lines().length]).toEqual([0, 3]);
  expect((await run('tails')).exitCode).toBe(0);
});

test('a replay is not a tail', async () => {
  const { home, run } = await openDesk(plenty);
  await run('thesis list --limit 2 --out posts.ndjson');
  const replayed = await run('thesis tail --replay posts.ndjson');
  expect([replayed.lines().length, existsSync(home.at('state/tails'))]).toEqual([2, false]);
});
