import { existsSync, readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openPromise } from '../../src/base/calls.ts';
import { some } from '../repeats.ts';
import { bash } from './bash.ts';
import { openDesk, startTrdr, withSandbox } from './harness.ts';
import { startInProcess } from './in-process.ts';
import { numbers } from './records.ts';
import { handlesIn, userRecord, withService } from './service.ts';

const plenty = { ratePerMinute: 1_000_000, burstPerSecond: 1_000_000 } as const;
/** Subjects whose output is longer than what a pipe buffers. Most of them are the same, so few calls are needed. */
const subjects = Array.from(
  { length: 100 },
  (_, index) => `${'mira\n'.repeat(8)}@nobody_${index}\n`,
).join('');
const formats = ['table', 'ndjson', 'json', 'csv'] as const;

describe('a closed reader', () => {
  const each: readonly (readonly [words: string, format: string, input?: string])[] = [
    ...formats.map((format) => ['whois -', format, subjects] as const),
    ['resolve --no-wait --yes -', 'ndjson', 'mira\n'.repeat(800)],
    ['me', 'json'],
    ['price', 'table'],
    ['config list', 'table'],
    ['whois --dry-run -', 'ndjson', subjects],
  ];
  test.each(some(each, 1))('makes "%s -o %s" exit 0 silently', async (words, format, input) => {
    const sandbox = await withSandbox(plenty);
    const one = await bash(`trdr ${words} -o ${format} | head -1`, { sandbox, input });
    expect([one.codes, one.stderr]).toEqual([[0, 0], '']);
    expect(one.stdout).toMatch(/^[^\n]+\n?$/);
  });

  /** Lines in which the reader leaves at once, or after a part of what was paid for. */
  const left = [
    // Rows of a table are short, so more of them are needed to fill the pipe.
    'thesis list --limit 1000 --yes -o table | head -1',
    ...formats.slice(1).map((format) => `thesis list --limit 300 --yes -o ${format} | head -1`),
    'thesis list -o table | head -1',
    'whois - --no-cache | true',
    'pnl mira juno --yes --no-cache | true',
    'resolve mira juno --no-wait --yes | true',
    'launchpad board | true',
    'launchpad board --who | true',
    'api /v2/thesis | true',
    'thesis list --sort likeCount --since 1d --yes | true',
    // The embedded service runs in the same process, and must end with it.
    ...['thesis list --limit 300 --yes | head -1', 'whois - --no-cache | true'].map(
      (line) => `--sandbox ${line}`,
    ),
    ...['--help', 'whois --help', '--version', 'completion bash', 'schema'].map(
      (words) => `${words} | true`,
    ),
  ];
  test.each(some(left, 4))('makes the run exit 0: %s', async (line) => {
    const sandbox = await withSandbox(plenty);
    const ran = await bash(`trdr ${line}`, { sandbox, input: subjects });
    expect([ran.codes, ran.stderr]).toEqual([[0, 0], '']);
  });

  test('stops the run before it pays for more', async () => {
    const sandbox = await withSandbox({ ...plenty, faults: 'delay@thesis.all=20ms' });
    const ran = await bash('trdr thesis list --all --yes | head -c 1', { sandbox });
    expect(ran.codes).toEqual([0, 0]);
    expect(sandbox.meter().totalUnits).toBeLessThan(sandbox.world.theses().count() * 10);
  });

  test('of stderr does not matter', async () => {
    const sandbox = await withSandbox({ ...plenty, faults: '500@thesis.all*1' });
    const ran = await bash('trdr thesis list --debug 2> >(true)', { sandbox });
    expect(ran.codes).toEqual([0]);
    expect(ran.stdout.split('\n')).toHaveLength(21);
  });
});

describe('a pipe', () => {
  test.each([
    [['whois', '--no-cache'], 'user/handle/'],
    [['pnl', '--no-cache', '--yes'], 'user/handles/pnl'],
  ])('receives each row of %j as soon as it is answered', async (words, path) => {
    const handles = Array.from({ length: 101 }, (_, at) => `t${at}`);
    const isRead = openPromise();
    const service = await withService(async ({ path: asked, request }) => {
      if (!asked.includes(path)) return undefined;
      if (!asked.endsWith('/pnl')) {
        const handle = asked.split('/').at(-1) ?? '';
        if (handle === 't9') await isRead.promise;
        return { body: userRecord(handle) };
      }
      const wanted = await handlesIn({ request });
      if (wanted.includes('t100')) await isRead.promise;
      return { body: { count: wanted.length, missing: [], entries: wanted.map(numbers) } };
    });
    const ran = startInProcess([...words, ...handles, '-o', 'ndjson'], { sandbox: service });
    let text = '';
    ran.stdout.on('data', (part: Buffer) => {
      text += part.toString();
      if (text.includes('"t0"')) isRead.resolve();
    });
    expect((await ran.ended).lines()).toHaveLength(101);
  });

  test.each(some(formats, 1))('receives %s completely, for any size and reader', async (format) => {
    const { sandbox, home, run } = await openDesk(plenty);
    const words = ['thesis', 'list', '--limit', '600', '--yes', '-o', format, '--utc'];
    const file = await run([...words, '--out', home.at('all')]);
    expect(file.exitCode).toBe(0);
    const child = startTrdr(words, { sandbox, home });
    const parts: Buffer[] = [];
    let size = 0;
    for await (const part of child.stdout.iterator({ destroyOnReturn: false })) {
      parts.push(Buffer.from(part));
      size += part.length;
      for (let turns = 0; turns < 20; turns++) await turn();
    }
    // A pipe accepts 64 KiB before it is full.
    expect(size).toBeGreaterThan(80_000);
    expect((await child).exitCode).toBe(0);
    const whole = readFileSync(home.at('all'));
    // Files and pipes have no width, so both use 80 columns.
    expect(Buffer.concat(parts).equals(whole)).toBe(true);
  });
});

describe('a full disk', () => {
  const full = { code: 'ENOSPC', exit: 9 };

  const lines = ['thesis list --limit 100', 'whois mira', 'me', 'price', '--help', '--version'];
  const all = [...lines, 'completion bash', 'schema', 'sandbox'];
  test.each(some(all, 2))('is reported, and "%s" exits 9', async (words) => {
    const sandbox = await withSandbox(plenty);
    const ran = await bash(`trdr ${words} > /dev/full`, { sandbox });
    expect(ran.codes).toEqual([9]);
    const said = ran.stderr.split('\n').find((line) => line.startsWith('{'));
    expect(JSON.parse(said ?? '{}')).toMatchObject({ error: full });
  });

  test('below the ledger stops paid calls', async () => {
    const sandbox = await withSandbox(plenty);
    const ran = await bash(`trap '' XFSZ; ulimit -f 0; trdr whois mira | cat`, { sandbox });
    expect([ran.codes, sandbox.meter().totalUnits]).toEqual([[9, 0], 0]);
    expect(ran.stderr).toContain('cannot record paid calls in');
  });
});

describe('--out', () => {
  const words = 'thesis list --limit 200 --yes -o ndjson';

  const outputs = [
    ['/dev/stdout, which is a pipe', '--out /dev/stdout | cat > all'],
    ['/dev/stdout, which is a file', '--out /dev/stdout > all'],
    ['/dev/fd/1', '--out /dev/fd/1 | cat > all'],
    ['/proc/self/fd/1', '--out /proc/self/fd/1 | cat > all'],
    ['another descriptor', '--out /dev/fd/7 7> all'],
    ['another command', '--out >(cat > all); wait $!'],
    ['a FIFO', '--out fifo & cat fifo > all; wait $!'],
    ['a link to a FIFO', '--out link & cat fifo > all; wait $!'],
    ['a link to a missing file', '--out dangling; cat real > all'],
  ] as const;
  test.each(some(outputs, 2))('may be %s', async (_, flags) => {
    const { sandbox, home, run } = await openDesk({ ...plenty, now: Date.UTC(2026, 0, 15) });
    await run([...words.split(' '), '--out', home.at('wanted')]);
    const line = `mkfifo fifo; ln -s fifo link; ln -s real dangling; trdr ${words} ${flags}`;
    const ran = await bash(line, { sandbox, home });
    expect(ran.stderr).toBe('');
    const wanted = home.read('wanted');
    expect(wanted.split('\n')).toHaveLength(201);
    expect(home.read('all')).toBe(wanted);
  });
});

test.each([
  'whois mira -o csv',
  'pnl mira juno -o csv',
  'api /v2/me',
  'thesis tail --via poll --backfill 3 --count 3 --yes -o ndjson',
])('--out - is stdout for %s %s', async (words) => {
  const { home, run } = await openDesk({ now: Date.UTC(2026, 0, 15) });
  const ran = await run(`${words} --out -`);
  expect([ran.exitCode, existsSync(home.at('-'))], ran.stderr).toEqual([0, false]);
  expect(ran.lines().length).toBeGreaterThan(0);
});
