import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Sandbox, SandboxOptions } from '../sandbox/service.ts';
import {
  asItShouldBe,
  compare,
  gather,
  idsOf,
  listening,
  plenty,
  readText,
  startPosting,
  startTail,
  startTailProgram,
  until,
} from './feed.ts';
import { argv, openDesk, openHome, recordsIn, runInProcess, withSandbox } from './harness.ts';
import { startInProcess } from './in-process.ts';

const read = (sandbox: Sandbox) =>
  sandbox.log.some(({ path, status }) => path.startsWith('/v2/thesis') && status === 200);
const stated = (stderr: string) =>
  Number(/([\d,]+) CU/.exec(/stopped after .*/.exec(stderr)?.[0] ?? '')?.[1]?.replaceAll(',', ''));

test.each([
  ['a token', ['0xABCDEF0000000000000000000000000000000001']],
  [
    'a token twice',
    ['0xABCDEF0000000000000000000000000000000001', '0xabcdef0000000000000000000000000000000001'],
  ],
])('the posts of %s in mixed case come as frames', async (_, tokens) => {
  const { sandbox, run } = await openDesk(plenty);
  const words = tokens.flatMap((token) => ['--token', token]);
  const tokenAddress = '0xabcdef0000000000000000000000000000000001';
  const template = sandbox.post();
  // Posts from before the connection would come from pages, and on a slow machine these are all that are counted.
  const post = () => {
    if (listening(sandbox) === 0) return;
    const platformCreatedAt = sandbox.clock.now();
    sandbox.post({ ...template, id: `p${performance.now()}`, tokenAddress, platformCreatedAt });
  };
  const posting = setInterval(post, 10);
  const line = argv`thesis tail ${words} --via ws --count 100 --yes`;
  const tail = await run(line).finally(() => clearInterval(posting));
  const rows = tail.records();
  expect([tail.exitCode, rows.length], tail.stderr).toEqual([0, 100]);
  expect(rows.filter((row) => 'authorAvatarUrl' in row).length).toBeGreaterThan(0);
  const paths = sandbox.log.map(({ path }) => path).filter((path) => path.startsWith('/v2/thesis'));
  expect(new Set(paths.map((path) => path.split('?')[0]))).toEqual(
    new Set([`/v2/thesis/token/${tokenAddress}`]),
  );
});

const token = '--token So11111111111111111111111111111111111111112';

type How = 'ws' | 'poll' | 'as long as it lasts';

test.each<[plan: string, flags: string, how: How, budget?: string, SandboxOptions?]>([
  ['growth', '', 'ws'],
  ['growth', '--lag 30s', 'poll'],
  ['growth', token, 'poll'],
  ['growth', '--max-cu 30k', 'poll'],
  ['growth', '--via ws --max-cu 90k', 'ws'],
  // How long a budget and the units of a month have to last depends on the time of the run.
  ['growth', '', 'as long as it lasts', 'day 90k'],
  ['growth', '', 'as long as it lasts', '', { monthlyUnits: 39_000 }],
  ['growth', '', 'as long as it lasts', '', { monthlyUnits: 150_000 }],
  ['starter', '', 'poll'],
  ['explore', '', 'poll'],
  ['legacy', '', 'ws'],
])('the dry run is the run: plan %s, "%s", by %s', async (plan, flags, how, budget, given) => {
  const { run } = await openDesk({ plan, ...given } as SandboxOptions);
  if (budget) await run(`budget set ${budget}`);
  const dry = await run(`thesis tail ${flags} --dry-run`);
  const stop = new AbortController();
  const ran = await run(`thesis tail ${flags}`, {
    interrupt: stop.signal,
    onStderr: (text) => /streaming over|polling/.test(text) && stop.abort(),
  });
  const calls = dry.records();
  const planned = calls.some(({ endpoint }) => endpoint === 'ws') ? 'ws' : 'poll';
  const starts = { ws: ': streaming over WebSocket: ', poll: ': polling ' };
  expect(ran.stderr).toContain(starts[planned]);
  if (how !== 'as long as it lasts') expect(planned).toBe(how);
  expect(ran.stderr.includes("the key's plan has no live feed")).toBe(
    ['starter', 'explore'].includes(plan),
  );
  const minute = calls.reduce(
    (sum, { per, most }) => sum + (per === 'minute' ? Number(most) : 0),
    0,
  );
  // A poll may also be a deep walk, and a budget lasts as the rate of the feed allows.
  const stated = Number(/([\d,]+) CU\/min/.exec(ran.stderr)?.[1]?.replaceAll(',', ''));
  expect(minute).toBeGreaterThanOrEqual(stated * 0.5);
  expect(minute).toBeLessThanOrEqual(stated * 2 + 400);
});

describe('every post is printed exactly once', () => {
  test('when the service restarts after a pause', async () => {
    const sandbox = await withSandbox(plenty);
    const tail = startTail(['--lag', '300ms', '--yes'], { sandbox });
    const out = gather(tail.stdout);
    await until(() => listening(sandbox) > 0);
    const posting = startPosting(sandbox, 10);
    for (const awayMs of [1_500, 0]) {
      const before = posting.ids.length;
      await until(() => posting.ids.length > before + 30);
      sandbox.restart(awayMs);
      await until(() => listening(sandbox) === 0);
      await until(() => listening(sandbox) > 0);
    }
    posting.stop();
    await until(() => out.ids.length >= posting.ids.length);
    tail.kill('SIGINT');
    const { exitCode } = await tail.ended;
    expect([exitCode, compare(posting.ids, out.ids)], tail.stderr).toEqual([130, asItShouldBe]);
    expect(tail.stderr).toMatch(/connection lost .*\n/);
    expect(tail.stderr).toMatch(
      /stopped after \S+: [\d,]+ posts, no gaps, [2-9] reconnects, .* at most, [1-9]\d* found by polling/,
    );
  });

  test('for two to fifty tokens, although pages show all', async () => {
    const sandbox = await withSandbox(plenty);
    const some = Array.from({ length: 200 }, () => sandbox.post().tokenAddress ?? '');
    const tokens = [...new Set(some)].slice(0, 5);
    const flags = tokens.flatMap((token) => ['--token', token]);
    const tail = startTail([...flags, '--via', 'ws', '--yes'], { sandbox });
    const out = gather(tail.stdout);
    await until(() => listening(sandbox) > 0);
    const posted: string[] = [];
    const wanted: string[] = [];
    for (let i = 0; i < 400; i++) {
      const post = sandbox.post();
      posted.push(post.id);
      if (tokens.includes(post.tokenAddress ?? '')) wanted.push(post.id);
    }
    await until(() => out.ids.length >= wanted.length);
    tail.kill('SIGINT');
    const { exitCode } = await tail.ended;
    expect([exitCode, compare(wanted, out.ids)], tail.stderr).toEqual([130, asItShouldBe]);
    expect(tail.stderr).toContain(' 0 reconnects');
  });
});

describe('how a tail ends', () => {
  test('after --count rows, each unchanged', async () => {
    const sandbox = await withSandbox(plenty);
    const tail = startTail(['--count', '3', '--yes'], { sandbox });
    await until(() => listening(sandbox) > 0);
    const sent = Array.from({ length: 5 }, () => sandbox.post());
    const { stdout, exitCode } = await tail.ended;
    expect([exitCode, idsOf(stdout)]).toEqual([0, sent.slice(0, 3).map(({ id }) => id)]);
    expect(JSON.parse(stdout.split('\n')[0] ?? '')).toMatchObject({
      id: sent[0]?.id,
      thesis: sent[0]?.thesis,
    });
  });

  test('with a count of the new posts, apart from those it printed first on a terminal', async () => {
    const sandbox = await withSandbox({ ...plenty, rate: 0 });
    const words = ['thesis', 'tail', '--via', 'poll', '--duration', '100ms', '--color', 'never'];
    const shown = await runInProcess(words, { sandbox, tty: true });
    expect(shown.stderr).toContain(': 0 new posts after the first 10, no gaps');
    const piped = await runInProcess(words, { sandbox });
    expect(piped.stderr).toContain(': 0 posts, no gaps');
  });

  test('with each of its notices on a line of its own, not behind the status line', async () => {
    const { sandbox, home } = await openDesk({ ...plenty, rate: 0 });
    const out = home.at('theses.ndjson');
    const words = ['thesis', 'tail', '--via', 'poll', '--yes', '--out', out];
    const options = { sandbox, home, tty: true, env: { TERM: 'xterm', LANG: 'C.UTF-8' } };
    const tail = startInProcess(words, options);
    await until(() => tail.stderr.includes('· polling'));
    renameSync(out, `${out}.1`);
    await until(() => tail.stderr.includes('continuing in a new file'));
    tail.kill('SIGINT');
    const { stderr } = await tail.ended;
    expect(stderr.replace(/[^\n]*\x1b\[2K/g, '')).not.toMatch(/.trdr: /);
  });

  test('silently with exit code 0 when its reader closes', async () => {
    const sandbox = await withSandbox(plenty);
    const tail = startTailProgram(['--yes', '-q'], { sandbox, home: openHome() });
    await until(() => listening(sandbox) > 0);
    startPosting(sandbox, 5);
    await new Promise<void>((resolve) => tail.child.stdout.once('data', () => resolve()));
    tail.child.stdout.destroy();
    const { exitCode } = await tail.child;
    expect([exitCode, tail.stderr]).toEqual([0, '']);
  });

  test('with exit code 6 when the service closes the socket because no units are left', async () => {
    const sandbox = await withSandbox({ ...plenty, unmetered: false, monthlyUnits: 1_000_000 });
    const tail = startTail(['--yes', '--via', 'ws'], { sandbox });
    await until(() => listening(sandbox) > 0);
    sandbox.disconnect('close', 1008);
    expect((await tail.ended).exitCode).toBe(6);
  });

  test.each([
    ['402@ws=100%', 'auto', 130],
    ['402@ws=100%', 'ws', 6],
    ['404@ws=100%', 'auto', 130],
    ['404@ws=100%', 'ws', 9],
  ])('with %s of the handshake and --via %s ends with %i', async (faults, via, exit) => {
    const { run } = await openDesk({ ...plenty, faults });
    const stop = new AbortController();
    const tail = await run(['thesis', 'tail', '--via', via, '--yes'], {
      interrupt: stop.signal,
      onStderr: (text) => text.includes('falling back to polling') && stop.abort(),
    });
    expect(tail.exitCode, tail.stderr).toBe(exit);
  });
});

describe('what a tail costs', () => {
  test('is in the ledger, and never exceeds its end line', async () => {
    const { sandbox, home, run } = await openDesk({
      ...plenty,
      unmetered: false,
      monthlyUnits: 10_000_000,
    });
    const tail = startTail(['--yes'], { sandbox, home });
    const out = gather(tail.stdout);
    await until(() => listening(sandbox) > 0);
    startPosting(sandbox, 100);
    await until(() => out.ids.length > 5);
    tail.kill('SIGINT');
    await tail.ended;
    const usage = await run('usage --by endpoint -o ndjson');
    const cu = usage
      .records()
      .reduce((sum, record) => sum + Number(record['cuAtMost'] ?? record['cu']), 0);
    const { totalUnits } = sandbox.meter();
    expect([cu, stated(tail.stderr)], tail.stderr).toEqual([totalUnits, totalUnits]);
  });

  test.each([
    ['1000', 'poll', 'lost@theses=40%'],
    ['2400', 'auto', 'cut@theses=30%,500@theses=20%'],
    ['41600', 'auto', 'lost@theses=30%,drop=5%'],
    ['43000', 'ws', 'cut@theses=20%,drop=10%'],
  ])('stays below --max-cu %s via %s with lost answers (%s)', async (maxCu, via, faults) => {
    const sandbox = await withSandbox({ ...plenty, unmetered: false, monthlyUnits: 10_000_000 });
    const words = ['--max-cu', maxCu, '--via', via, '--lag', '150ms', '--duration', '2s'];
    const tail = startTail(words, { sandbox });
    await until(() => read(sandbox));
    sandbox.faults.set(faults);
    startPosting(sandbox, 15);
    const { exitCode } = await tail.ended;
    expect([0, 6]).toContain(exitCode);
    expect(sandbox.meter().totalUnits).toBeLessThanOrEqual(Number(maxCu));
    expect(stated(tail.stderr)).toBeLessThanOrEqual(Number(maxCu));
  });

  test('is limited to confirmAbove if the tail has no end, and the error names the command that continues', async () => {
    const { sandbox, home, run } = await openDesk(plenty);
    await runInProcess('config set confirmAbove 450', { home });
    const words = ['thesis', 'tail', '--via', 'poll', '--lag', '100ms', '--backfill', '3'];
    const { exitCode, error, lines, stderr } = await runInProcess(words, { sandbox, home });
    expect([exitCode, lines().length, sandbox.meter().totalUnits]).toEqual([6, 3, 400]);
    expect(stderr).toContain('; spending limit 450 CU (raise it with --max-cu)\n');
    expect(error()).toMatchObject({
      code: 'CEILING',
      message: 'stopped at the spending limit; this run has cost up to 400 CU',
      hint: expect.stringMatching(
        /--max-cu N or --yes; continue with: trdr thesis tail --via poll --lag 100ms --since \d{4}-\S+Z$/,
      ),
    });
    for (const [out, how] of [
      ['f.ndjson', 'run the same command again: it continues from \\S*f.ndjson'],
      ['/dev/null', 'continue with: trdr .*--out /dev/null -o ndjson --since \\S+'],
    ] as const) {
      const again = [...words.slice(0, 6), '--out', out, '-o', 'ndjson'];
      const { error } = await run(again);
      expect(error()['hint']).toMatch(new RegExp(`; ${how}$`));
    }
  });
});

describe('files', () => {
  test('are resumed, also with selected fields', async () => {
    const { sandbox, home } = await openDesk(plenty);
    const out = home.at('theses.ndjson');
    const words = ['--out', out, '--fields', 'id,platformCreatedAt,tokenSymbol', '--yes'];
    const posting = startPosting(sandbox, 10);
    const runUntil = async (isEnough: () => boolean) => {
      const tail = startTail(words, { sandbox, home });
      await until(isEnough);
      tail.kill('SIGINT');
      await tail.ended;
    };
    await runUntil(() => idsOf(readText(out)).length > 50);
    const { length } = readText(out);
    writeFileSync(out, `${readText(out)}{"id":"torn`);
    await runUntil(() => readText(out).length > length + 5_000);
    // A signal ends a run without a last walk: what came between its first walk and its first frame is read by the next run.
    await startTail([...words, '--duration', '500ms'], { sandbox, home }).ended;
    const lines = idsOf(readText(out));
    const places = lines.map((id) => posting.ids.indexOf(id));
    const wanted = posting.ids.slice(Math.min(...places), Math.max(...places) + 1);
    expect(compare(wanted, lines)).toEqual(asItShouldBe);
    expect(Object.keys(JSON.parse(readText(out).split('\n')[0] ?? ''))).toEqual([
      'id',
      'platformCreatedAt',
      'tokenSymbol',
    ]);
  });

  test('have one writer, whatever they are called', async () => {
    const { sandbox, home, run } = await openDesk(plenty);
    const [out, other] = [home.at('a.ndjson'), home.at('b.ndjson')];
    writeFileSync(out, '');
    linkSync(out, other);
    const first = startTail(['--out', out, '--via', 'poll', '--yes'], { sandbox, home });
    await until(() => first.stderr.includes('polling'));
    const words = ['thesis', 'tail', '--out', other, '--via', 'poll', '--yes'];
    const second = await run(words);
    expect([second.exitCode, second.error()['code']]).toEqual([9, 'LOCKED']);
    first.kill('SIGTERM');
    await first.ended;
  });

  test('that hold a checkpoint and can no longer be written end the tail with a reason', async () => {
    const { sandbox, home } = await openDesk(plenty);
    const folder = home.at('sub');
    mkdirSync(folder);
    const checkpoint = join(folder, 'tail.json');
    const words = ['--checkpoint', checkpoint, '--via', 'poll', '--lag', '200ms', '--yes'];
    const tail = startTail(words, { sandbox, home });
    await until(() => readText(checkpoint) !== '');
    rmSync(folder, { recursive: true });
    startPosting(sandbox, 50);
    expect((await tail.ended).exitCode).toBe(9);
    expect(tail.stderr).toMatch(/tail\.json: /);
    expect(tail.stderr).not.toMatch(/BUG|\n\s+at /);
  });

  test('of another feed are rejected as checkpoints', async () => {
    const { sandbox, home, run } = await openDesk(plenty);
    const words = ['--via', 'poll', '--checkpoint', 'c.json'];
    const tail = startTail(words, { sandbox, home });
    await until(() => readText(home.at('c.json')) !== '');
    tail.kill('SIGINT');
    await tail.ended;
    const other = await run(['thesis', 'tail', ...words, '--user', 'mira']);
    expect([other.exitCode, other.error()['code']]).toEqual([9, 'CHECKPOINT']);
  });
});

describe('filters', () => {
  test('apply to frames and pages alike', async () => {
    const sandbox = await withSandbox(plenty);
    const words = ['--grep', 'e', '--min-holdings', '100', '--backfill', '50', '--yes'];
    const tail = startTail(words, { sandbox });
    const out = gather(tail.stdout);
    await until(() => listening(sandbox) > 0);
    const posting = startPosting(sandbox, 10);
    // Wait for rows that came as frames; the first rows come from pages.
    await until(() => out.ids.some((id) => posting.ids.indexOf(id) > 50));
    tail.kill('SIGINT');
    const { stdout, exitCode } = await tail.ended;
    const records = recordsIn(stdout);
    expect([exitCode, records.some(({ id }) => !posting.ids.includes(String(id)))]).toEqual([
      130,
      true,
    ]);
    for (const record of records) {
      expect(String(record['thesis'])).toMatch(/e/i);
      expect(Number(record['holdingsUsd'])).toBeGreaterThanOrEqual(100);
    }
  });

  test('finish on any text, even if a pattern backtracks', async () => {
    const sandbox = await withSandbox(plenty);
    const tail = startTail(['--grep', '(a+)+$', '--count', '2', '--yes'], { sandbox });
    await until(() => listening(sandbox) > 0);
    const { id: _, ...post } = sandbox.post();
    for (const [id, thesis] of [
      ['one', `${'a'.repeat(60)}b`],
      ['two', 'nothing of it'],
      ['three', 'aaa'],
    ] as const) {
      sandbox.post({ ...post, id, thesis, platformCreatedAt: sandbox.clock.now() });
    }
    const { stdout, exitCode } = await tail.ended;
    // On a busy machine, the next post may take too long as well.
    expect([exitCode, idsOf(stdout)[0]]).toEqual([0, 'one']);
    expect(tail.stderr).toContain('the pattern took too long on post ');
  });
});
