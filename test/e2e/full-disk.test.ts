import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { execa, execaSync } from 'execa';
import { test as anyTest, describe, expect, onTestFinished } from 'vitest';
import { textOf } from '../../src/base/json-object.ts';
import { openJournal } from '../../src/state/export-journal/open-journal.ts';
import { some } from '../repeats.ts';
import type { Sandbox } from '../sandbox/service.ts';
import { has } from '../tools.ts';
import { idsOf, readText, until } from './feed.ts';
import { deskOf, type Home, programEnv, type RunOptions, withSandbox, wordsOf } from './harness.ts';
import { startInProcess } from './in-process.ts';
import { priceOf, someHandles, withNumbers } from './numbers.ts';
import { program } from './program.ts';

// A disk of 64 KB that really becomes full. Mounting it needs permissions that not every machine gives.
const mayMount = (() => {
  if (process.platform !== 'linux' || !has('unshare')) return false;
  return (
    execaSync('unshare', ['--mount', 'true'], { reject: false }).exitCode === 0 &&
    process.getuid?.() === 0
  );
})();
const test = anyTest.skipIf(!mayMount);

/** A service, and a home with the folder `disk` on a tiny disk. */
async function withDisk(pages = 16, given?: Sandbox) {
  const { sandbox, home, run } = deskOf(given ?? (await withSandbox()));
  const disk = home.at('disk');
  mkdirSync(disk);
  execaSync('mount', ['-t', 'tmpfs', '-o', `size=${pages * 4}k`, 'tmpfs', disk]);
  onTestFinished(() => void execaSync('umount', ['--lazy', disk], { reject: false }));
  const filler = join(disk, 'filler');
  /** Fills the disk and leaves this many pages of 4 KB free. */
  const fill = (free: number) => {
    try {
      writeFileSync(filler, Buffer.alloc(pages * 4_096));
    } catch {
      // Ignore the error: the disk is as full as possible.
    }
    const { size } = { size: readFileSync(filler).length };
    writeFileSync(filler, Buffer.alloc(Math.max(0, Math.floor(size / 4_096) - free) * 4_096));
  };
  const free = () => {
    for (const name of ['filler', 'more']) rmSync(join(disk, name), { force: true });
  };
  return { sandbox, home, run, disk, fill, free };
}

/** Pads each ledger file to the end of its last page, which would otherwise take some more lines on a full disk. */
function padLedger(state: string) {
  for (const name of readdirSync(join(state, 'ledger'))) {
    if (!name.endsWith('.ndjson')) continue;
    const path = join(state, 'ledger', name);
    appendFileSync(path, '\n'.repeat((4_096 - (statSync(path).size % 4_096)) % 4_096));
  }
}

type Place = Pick<RunOptions, 'sandbox'> & { readonly home: Home };

interface TailOnDisk {
  readonly stderr: string;
  readonly ended: Promise<{ readonly exitCode?: number | undefined }>;
}

/** A tail whose stdout bash redirects to a file. */
function startRedirected(line: string, options: Place): TailOnDisk {
  const child = execa('bash', ['-c', `exec "$NODE" "$PROGRAM" ${line}`], {
    env: { ...programEnv(options), NODE: process.execPath, PROGRAM: program },
    ...{ extendEnv: false, cwd: options.home.path, reject: false, stdin: 'ignore' as const },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stderr = '';
  child.stderr.on('data', (part: Buffer) => {
    stderr += part.toString();
  });
  return {
    get stderr() {
      return stderr;
    },
    ended: child,
  };
}

/** Starts a tail, which needs a process of its own only if its stdout is a file. */
const startTailOnDisk = (line: string, options: Place): TailOnDisk =>
  line.includes('>') && !line.includes('--exec')
    ? startRedirected(line, options)
    : startInProcess(wordsOf(line), options);

describe('a tail whose disk fills and empties', () => {
  const rows = 150;
  const flags = `--via poll --lag 100ms --yes --backfill ${rows} --count ${rows}`;
  const status = '--status a.prom';

  const fillsDisk =
    'cat >> t.ndjson; sleep 0.1; test -e full || { touch full; cat /dev/zero > disk/more; } 2> /dev/null; true';

  const outputs = [
    ['--out', `--out disk/t.ndjson`, 'disk/t.ndjson', 6],
    ['--out with --rotate', '--out disk/t.ndjson --rotate 30KB', 'disk/t*.ndjson', 12],
    ['--out with --checkpoint', '--out disk/t.ndjson --checkpoint disk/ck', 'disk/t.ndjson', 12],
    ['stdout', '> disk/t.ndjson', 'disk/t.ndjson', 6],
    ['stdout that is appended to', '>> disk/t.ndjson', 'disk/t.ndjson', 6],
    ['stdout with --checkpoint', '--checkpoint disk/ck > disk/t.ndjson', 'disk/t.ndjson', 12],
    [
      '--exec with --checkpoint',
      `--batch 10 --checkpoint disk/ck --exec '${fillsDisk}'`,
      't.ndjson',
      8,
    ],
    [
      '--exec with dead letters',
      "--batch 10 --tries 1 --checkpoint disk/ck --exec 'false'",
      'disk/ck.dead.ndjson',
      12,
    ],
  ] as const;
  test.each(some(outputs, 3))(
    'waits, and loses and repeats nothing: %s',
    async (_, output, files, free) => {
      const disk = await withDisk(64);
      const { sandbox, home, run } = disk;
      disk.fill(free);
      const tail = startTailOnDisk(`thesis tail ${flags} ${status} ${output}`, { sandbox, home });
      const says = (text: string) => expect.poll(() => tail.stderr).toContain(text);
      await says('the disk is full; waiting until it can be written');
      const paid = sandbox.meter().totalUnits;
      await until(() => readText(home.at('a.prom')).includes('the disk is full"} 1'));
      const written = Number(/_rows_total\{.*\} (\d+)/.exec(readText(home.at('a.prom')))?.[1]);
      expect(written).toBeLessThan(rows);
      expect(sandbox.meter().totalUnits).toBe(paid);
      disk.free();
      await says('can be written again');
      const dead = output.includes('false');
      expect((await tail.ended).exitCode, tail.stderr).toBe(dead ? 9 : 0);
      expect(tail.stderr).toContain(`: ${rows} posts, no gaps`);
      const { stdout } = execaSync('bash', ['-c', `cat ${files}`], { cwd: home.path });
      const all = await run(`thesis list --limit ${rows} --yes`);
      const wanted = all.records().map(({ id }) => id);
      expect(idsOf(`${stdout}\n`)).toEqual(wanted.reverse());
    },
  );
});

test('a checkpoint that cannot be written ends the tail before anything is printed', async () => {
  const { run, disk, fill } = await withDisk();
  fill(0);
  const line = 'thesis tail --via poll --lag 1s --yes --checkpoint disk/ck';
  const { exitCode, stdout, stderr, error } = await run(line);
  expect([exitCode, stdout], stderr).toEqual([9, '']);
  expect(error()).toMatchObject({ code: 'ENOSPC' });
  expect(existsSync(join(disk, 'ck'))).toBe(false);
});

test.each([
  ['at the start', 0, '40', 0],
  ['at the end', 4, '40', 1],
  ['in the middle', 12, '400', 5],
])('a list that meets a full disk %s saves the rows that fit', async (_, free, limit, least) => {
  const { run, disk, fill } = await withDisk();
  const out = join(disk, 'all.ndjson');
  if (least > 0) writeFileSync(out, 'old\n');
  fill(free);
  const line = `thesis list --limit ${limit} --yes --quiet --out ${out}`;
  const { exitCode, stderr, error } = await run(line);
  expect(exitCode, stderr).toBe(9);
  expect(error()).toMatchObject({ code: 'ENOSPC' });
  if (least === 0) {
    expect(error()['message']).toContain('the rows that were paid for could not be saved');
    expect(readdirSync(disk)).toEqual(['filler']);
    return;
  }
  expect(error()['message']).toBe(
    `cannot write to ${out}: the disk is full; the rows written so far are in ${out}.partial (the last one may be incomplete)`,
  );
  expect(readText(out)).toBe('old\n');
  expect(readdirSync(disk).sort()).toEqual(['all.ndjson', 'all.ndjson.partial', 'filler']);
  const rows = readText(`${out}.partial`).split('\n').slice(0, -1);
  expect(rows.length).toBeGreaterThanOrEqual(least);
  for (const row of rows) expect(JSON.parse(row)).toHaveProperty('id');
});

test('an export pays for no batch whose answer would not fit, and resumes for the rest', async () => {
  const { sandbox, run, disk, fill, free } = await withDisk(256, await withNumbers());
  const handles = someHandles(350);
  const out = join(disk, 'n.ndjson');
  const words = ['pnl', ...handles, '--out', out, '--yes', '--resume'];
  // Each batch needs 100 pages, most of which are free again after the answer was saved.
  fill(110);
  const { error, stderr } = await run(words);
  expect(error(), stderr).toMatchObject({
    exit: 9,
    message: expect.stringContaining('the disk is full'),
  });
  const units = sandbox.meter().totalUnits;
  expect(units).toBeGreaterThan(0);
  expect(units).toBeLessThan(priceOf(handles));
  free();
  expect((await run(words)).exitCode).toBe(0);
  expect(sandbox.meter().totalUnits).toBe(priceOf(handles));
  expect(readFileSync(out, 'utf8').split('\n')).toHaveLength(351);
});

test('an answer of an export that cannot be read is saved in the space that was kept for it', async () => {
  const { disk, fill } = await withDisk();
  const open = () =>
    openJournal(
      join(disk, 'n.ndjson'),
      { texts: ['mira'], size: 1, noun: 'the handles' },
      null,
      'resume',
      textOf,
    );
  const journal = await open();
  const batch = journal.asking([0], 4 * 4_096);
  fill(0);
  const text = 'odd'.repeat(3_000);
  journal.lost(batch, 30_000, text);
  journal.close();
  const resumed = await open();
  expect([...resumed.unread()]).toEqual([{ rows: [0], text }]);
  resumed.close();
});

/** With these, the state or the cache is on the tiny disk. */
const stateOn = (disk: string) => ({ env: { TRDR_STATE_DIR: join(disk, 'state') } });
const cacheOn = (disk: string) => ({ env: { TRDR_CACHE_DIR: join(disk, 'cache') } });

test('an answer that cannot be cached is delivered, and the reason is reported', async () => {
  const { run, disk, fill } = await withDisk();
  fill(0);
  const { exitCode, records, stderr } = await run('pnl mira juno', cacheOn(disk));
  expect([exitCode, records().length], stderr).toEqual([0, 2]);
  expect(stderr).toContain('answers are not saved for later runs');
  expect(stderr).toContain('the disk is full');
});

const paidLines = [
  'whois mira juno',
  'pnl mira juno --yes',
  'resolve solwolf',
  'thesis list --limit 100',
  'launchpad board',
  'api /v2/thesis',
];
test.each(some(paidLines, 3))('no call is paid for that cannot be recorded: %s', async (line) => {
  const { sandbox, run, disk, fill } = await withDisk();
  fill(0);
  const ran = await run(line, stateOn(disk));
  expect([ran.exitCode, sandbox.meter().totalUnits], ran.stderr).toEqual([9, 0]);
  expect(ran.stderr).toContain('cannot record paid calls in');
  // What costs nothing works: the free account, and the embedded service.
  for (const words of ['me', `${line} --sandbox`]) {
    const free = await run(words, stateOn(disk));
    expect([words, free.exitCode], free.stderr).toEqual([words, 0]);
  }
});

test('subjects that fail because their cost cannot be recorded are counted, and the run exits 9', async () => {
  const { sandbox, run, disk, fill, free } = await withDisk(64);
  const given = stateOn(disk);
  expect((await run('budget set day 9M', given)).exitCode).toBe(0);
  const names = sandbox.world.handles().slice(0, 20);
  expect((await run(['whois', ...names.slice(0, 5), '--yes'], given)).exitCode).toBe(0);
  fill(0);
  padLedger(join(disk, 'state'));
  const all = ['whois', ...names, '--yes'];
  const { exitCode, records, error, stderr } = await run(all, given);
  expect([exitCode, records().length], stderr).toEqual([9, 20]);
  expect(records().filter(({ found }) => found === null)).toHaveLength(15);
  expect(error()).toMatchObject({ code: 'ENOSPC' });
  expect(error()['message']).toMatch(/^15 of 20 subjects failed: .*the disk is full$/);
  free();
  expect((await run(all, given)).exitCode).toBe(0);
});

test('a budget is not exceeded while calls cannot be recorded', async () => {
  const { sandbox, run, disk, fill } = await withDisk();
  const given = stateOn(disk);
  expect((await run('budget set day 300', given)).exitCode).toBe(0);
  await run('whois mira', given);
  fill(0);
  const codes: number[] = [];
  for (const name of ['juno', 'tessa', 'nobody_1', 'nobody_2', 'nobody_3'])
    codes.push((await run(['whois', name], given)).exitCode);
  expect(sandbox.meter().totalUnits, String(codes)).toBeLessThanOrEqual(300);
});

test('a config of several pages is not cut short by a disk with room for some of them', async () => {
  const { run, disk, fill, free } = await withDisk(32);
  const env = { TRDR_CONFIG_DIR: disk };
  const path = join(disk, 'config.json');
  const profiles = Object.fromEntries(
    Array.from({ length: 200 }, (_, at) => [`p${at}`, { baseUrl: `https://p${at}.example.com` }]),
  );
  writeFileSync(path, `${JSON.stringify({ version: 1, profiles }, undefined, 2)}\n`);
  const before = readFileSync(path, 'utf8');
  for (let pages = 0; pages < before.length / 4_096; pages++) {
    fill(pages);
    const failed = await run('config set retries 7', { env });
    expect([failed.exitCode, readFileSync(path, 'utf8')]).toEqual([9, before]);
    expect(readdirSync(disk).sort()).toEqual(['config.json', 'filler']);
    free();
  }
  const saved = await run('config set retries 7', { env });
  expect(saved.exitCode).toBe(0);
  expect(JSON.parse(readFileSync(path, 'utf8')).profiles).toMatchObject({
    ...profiles,
    default: { retries: 7 },
  });
});
