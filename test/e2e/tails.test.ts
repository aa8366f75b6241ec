import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { plenty, until } from './feed.ts';
import { openDesk, openHome, runInProcess, startTrdr, withSandbox } from './harness.ts';
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
  const start = (...words: string[]) => startInProcess([...words, '--yes'], options);
  const words = ['thesis', 'tail', ...poll, '--out', out('a.ndjson'), '--user', 'mira', '--yes'];
  const killed = startTrdr(words, options);
  const running = start(
    'launchpad',
    'tail',
    '--lag',
    '200ms',
    '--out',
    out('b.ndjson'),
    '--max-cu',
    '1M',
  );
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
  const waiting = start(
    'thesis',
    'tail',
    ...poll,
    '--checkpoint',
    out('c'),
    '--wait-for-budget',
    '--profile',
    'small',
  );
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
  const home = openHome();
  const sandbox = await withSandbox({ ...plenty, faults: 'OVERLOADED@thesis.*+2' });
  const words = ['thesis', 'tail', ...poll, '--retries', '0', '--yes'];
  const tail = startInProcess(words, { home, sandbox });
  const failing = await shown(home, 'stdout', ({ words }) => String(words).includes('respond'));
  expect(failing).toMatchObject({
    state: 'polling',
    words: 'polling · the service does not respond',
  });
  tail.kill('SIGTERM');
  await tail.ended;
  const low = [
    'launchpad',
    'tail',
    '--lag',
    '200ms',
    '--max-cu',
    '20',
    '--out',
    home.at('x.ndjson'),
  ];
  expect((await runInProcess(low, { home, sandbox: await withSandbox(plenty) })).exitCode).toBe(6);
  expect((await tailsOf(home))[home.at('x.ndjson')]).toMatchObject({
    words: 'failed: CEILING (exit 6)',
    cuToday: 20,
    left: 0,
  });
});

test('a run of the same line replaces the one before it, and adds its cost of the day', async () => {
  const { home, sandbox } = await openDesk(plenty);
  const line = ['thesis', 'tail', '--no-follow', '--checkpoint', home.at('c')];
  for (const cuToday of [200, 400]) {
    expect((await runInProcess(line, { home, sandbox })).exitCode).toBe(0);
    const ran = await runInProcess('tails --all', { home });
    expect(ran.records()).toMatchObject([{ state: 'ended', words: 'ended', exit: 0, cuToday }]);
    const profiles = { default: {}, other: {} };
    mkdirSync(home.config, { recursive: true });
    writeFileSync(join(home.config, 'config.json'), JSON.stringify({ version: 1, profiles }));
    const other = await runInProcess('tails --all --profile other', { home });
    expect([other.exitCode, other.records()]).toEqual([0, []]);
  }
});

describe('a tail whose state cannot be noted runs as ever', () => {
  test.each([
    ['the folder is a file', (state: string) => writeFileSync(join(state, 'tails'), '')],
    [
      'the folder is read-only',
      (state: string) => {
        mkdirSync(join(state, 'tails'));
        chmodSync(join(state, 'tails'), 0o500);
      },
    ],
    [
      'run files are damaged',
      (state: string) => {
        mkdirSync(join(state, 'tails'));
        for (const text of ['', '{', '{"identity":"x","record":{}}', '\0'.repeat(100_000)])
          writeFileSync(join(state, 'tails', `run-1-${text.length}.json`), text);
      },
    ],
  ])('%s', async (_, spoil) => {
    const { home, sandbox } = await openDesk(plenty);
    mkdirSync(home.state, { mode: 0o700 });
    spoil(home.state);
    const ran = await runInProcess('thesis tail --no-follow --backfill 3', {
      home,
      sandbox,
    });
    expect([ran.exitCode, ran.lines().length]).toEqual([0, 3]);
    expect((await runInProcess('tails', { home })).exitCode).toBe(0);
  });

  test('a replay is not a tail', async () => {
    const { home, sandbox } = await openDesk(plenty);
    const file = home.at('posts.ndjson');
    await runInProcess(['thesis', 'list', '--limit', '2', '--out', file], { home, sandbox });
    await runInProcess(['thesis', 'tail', '--replay', file], { home, sandbox });
    expect(existsSync(join(home.state, 'tails'))).toBe(false);
    expect(readFileSync(file, 'utf8')).not.toBe('');
  });
});
