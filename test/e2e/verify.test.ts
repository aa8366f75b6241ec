import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { some } from '../repeats.ts';
import type { Sandbox } from '../sandbox/service.ts';
import { until } from './feed.ts';
import {
  type CommandLine,
  type Home,
  openHome,
  runInProcess,
  startTrdr,
  withSandbox,
} from './harness.ts';
import { startInProcess } from './in-process.ts';

const plenty = {
  unmetered: true,
  ratePerMinute: 600_000,
  burstPerSecond: 100_000,
  theses: 400,
} as const;

interface Place {
  readonly sandbox: Sandbox;
  readonly home: Home;
}

const run = (args: CommandLine, place: Place) => runInProcess(args, place);

/** A file that a tail wrote, with its certificate, and the service that it was read from. */
async function writtenFile() {
  const sandbox = await withSandbox(plenty);
  const home = openHome();
  const place = { sandbox, home };
  const path = home.at('theses.ndjson');
  const words = 'thesis tail --via poll --lag 200ms --yes --out theses.ndjson'.split(' ');
  expect((await run([...words, '--backfill', '60', '--count', '60'], place)).exitCode).toBe(0);
  // The first walk of a resumed run verifies the feed.
  expect((await run([...words, '--duration', '300ms'], place)).exitCode).toBe(0);
  return { place, path, text: readFileSync(path, 'utf8') };
}

let written: Promise<{ readonly text: string; readonly certificate: string }> | undefined;

/** Such a file in a new home: most tests need only what one tail wrote. */
async function withFile() {
  written ??= writtenFile().then(({ path, text }) => ({
    text,
    certificate: readFileSync(`${path}.trdr`, 'utf8'),
  }));
  const { text, certificate } = await written;
  const [sandbox, home] = [await withSandbox(plenty), openHome()];
  const path = home.write('theses.ndjson', text);
  writeFileSync(`${path}.trdr`, certificate);
  return { place: { sandbox, home }, path, text };
}

const verifyOf = async (paths: readonly string[], place: Place, more: readonly string[] = []) => {
  const { exitCode, stderr, records } = await run(['verify', ...paths, ...more], place);
  const [record] = records();
  return { exitCode, stderr, ...record };
};

test('a file of a tail is complete, plain, gzipped and while another line is written', async () => {
  const { place, path, text } = await withFile();
  const rows = text.split('\n').length - 1;
  expect(await verifyOf([path], place)).toMatchObject({
    exitCode: 0,
    status: 'complete',
    rows,
    gaps: [],
  });
  writeFileSync(`${path}.gz`, gzipSync(text));
  expect(await verifyOf([`${path}.gz`], place)).toMatchObject({
    exitCode: 0,
    status: 'complete',
    rows,
  });
  expect((await verifyOf([path, `${path}.gz`], place)).stderr).toContain(
    `${rows} posts in more than one file`,
  );
  // The pattern theses.*ndjson* also matches certificates.
  const certificate = `${path}.trdr`;
  expect(await verifyOf([path, certificate], place)).toMatchObject({
    exitCode: 0,
    rows,
    files: [{ rows }],
  });
  rmSync(path);
  expect(await verifyOf([certificate], place)).toMatchObject({ exitCode: 0, rows });
  // The order of the lines does not matter.
  writeFileSync(path, `${text.trimEnd().split('\n').reverse().join('\n')}\n`);
  expect(await verifyOf([path], place)).toMatchObject({ exitCode: 0, status: 'complete' });
  appendFileSync(path, '{"id":"new","platformCreatedAt":1}\n{"id":"to');
  const growing = await verifyOf([path], place);
  expect(growing).toMatchObject({ exitCode: 0, rows: rows + 1 });
  expect(growing.stderr).toMatch(/last 1 post .*not verified yet/s);
  expect(growing.stderr).toContain('incomplete line');
});

test.each<[string, (text: string) => string, RegExp]>([
  ['a line is missing', (text) => text.replace(/.*\n/, ''), /60 posts .* written, and 59 are/],
  ['a line was edited', (text) => text.replace('"thesis":"', '"thesis":"!'), /not those that were/],
  ['a line is there twice', (text) => text + text.replace(/\n.*/s, '\n'), /1 post more than once/],
  ['a line is not a post', (text) => `${text}oops\n`, /1 line without the id/],
])('a file was changed if %s', async (_, change, why) => {
  const { place, path, text } = await withFile();
  writeFileSync(path, change(text));
  const { exitCode, status, from, stderr } = await verifyOf([path], place).then((found) => ({
    from: 0,
    status: '',
    ...found,
  }));
  expect({ exitCode, status, from }).toEqual({ exitCode: 10, status: 'changed', from: null });
  expect(stderr.replace(/\s+/g, ' ')).toMatch(why);
});

test('a file without its certificate, or with a damaged one, is not vouched for', async () => {
  const { place, path } = await withFile();
  const certificate = readFileSync(`${path}.trdr`, 'utf8');
  expect(certificate).not.toContain(place.sandbox.key);
  writeFileSync(`${path}.trdr`, certificate.slice(0, 200));
  const damaged = await verifyOf([path], place);
  expect(damaged).toMatchObject({ exitCode: 10, status: 'no certificate' });
  expect(damaged.stderr).toContain('damaged');
  rmSync(`${path}.trdr`);
  const missing = await verifyOf([path], place);
  expect(missing).toMatchObject({ exitCode: 10, status: 'no certificate', from: null });
  expect(missing.stderr).toContain('theses.ndjson.trdr');
});

test('a certificate that is newer, or no regular file, is rejected with the way out', async () => {
  const { place, path } = await writtenFile();
  const certificate = `${path}.trdr`;
  const tail = 'thesis tail --via poll --no-follow --yes --out theses.ndjson'.split(' ');
  const text = readFileSync(certificate, 'utf8');
  writeFileSync(certificate, text.replace('"version":1', '"version":2'));
  for (const words of [['verify', path], tail]) {
    const { exitCode, said } = await run(words, place);
    expect([words[0], exitCode, said]).toEqual([
      words[0],
      9,
      expect.stringContaining('newer version'),
    ]);
  }
  const kinds = {
    folder: () => mkdirSync(certificate),
    large: () => {
      writeFileSync(certificate, '');
      truncateSync(certificate, 300 * 1024 * 1024);
    },
    fifo: () => execFileSync('mkfifo', [certificate]),
    device: () => symlinkSync('/dev/zero', certificate),
  };
  for (const [kind, make] of some(Object.entries(kinds), 2)) {
    rmSync(certificate, { recursive: true });
    make();
    // Both read it in the same way, and a large one slowly.
    for (const words of kind === 'folder' ? [['verify', path], tail] : [['verify', path]]) {
      const { exitCode, said } = await run(words, place);
      expect([kind, words[0], exitCode, said]).toEqual([
        ...[kind, words[0], 9],
        expect.stringMatching(/theses\.ndjson\.trdr: .*(check|move|use) /),
      ]);
    }
  }
});

test.each([
  ['verified', 1e300],
  ['readAt', 'soon'],
  ['rows', -1],
  ['bytes', 1.5],
  ['gaps', [{ from: 1e300, to: 1, why: '' }]],
  ['after', 1],
  ['version', '1'],
  ['stretches', null],
])('a certificate whose %s cannot be is damaged', async (name, value) => {
  const { place, path } = await withFile();
  const certificate = JSON.parse(readFileSync(`${path}.trdr`, 'utf8'));
  writeFileSync(`${path}.trdr`, JSON.stringify({ ...certificate, [name]: value }));
  const found = await verifyOf([path], place);
  expect(found).toMatchObject({ exitCode: 10, status: 'no certificate' });
  expect(found.stderr).toContain('damaged');
});

test('a feed without new posts is fresh while it is read, and the lock of its tail is passed over', async () => {
  const { place, path } = await withFile();
  symlinkSync('someone', `${path}.lock`);
  const both = [path, `${path}.lock`, `${path}.trdr`];
  expect(await verifyOf(both, place, ['--fresh', '1h'])).toMatchObject({
    exitCode: 0,
    status: 'complete',
    files: [{ status: 'complete' }],
  });
  const certificate = JSON.parse(readFileSync(`${path}.trdr`, 'utf8'));
  const old = Date.now() - 3 * 86_400_000;
  writeFileSync(`${path}.trdr`, JSON.stringify({ ...certificate, readAt: old }));
  const stale = await verifyOf([path], place, ['--since', '7d', '--fresh', '1h']);
  expect(stale).toMatchObject({ exitCode: 10, readAt: old });
  expect(stale.stderr).toContain(new Date(old).toISOString());
  expect((await verifyOf([path], place, ['--fresh', '4d'])).exitCode).toBe(0);
  expect((await run(['verify', `${path}.lock`], place)).exitCode).toBe(2);
});

test('a file that no walk has verified yet says so', async () => {
  const sandbox = await withSandbox(plenty);
  const place = { sandbox, home: openHome() };
  const words = 'thesis tail --via poll --lag 200ms --yes --out young.ndjson --no-follow'.split(
    ' ',
  );
  expect((await run(words, place)).exitCode).toBe(0);
  const path = join(place.home.path, 'young.ndjson');
  const young = await verifyOf([path], place);
  expect(young).toMatchObject({ exitCode: 10, status: 'not verified yet', gaps: [] });
  expect(young.stderr).toContain('nothing is verified yet');
});

test('a stretch can be asked for, and a damaged gzip file is changed', async () => {
  const { place, path, text } = await withFile();
  const found = await verifyOf([path], place);
  const { from, to } = { from: 0, to: 0, ...found };
  const within = ['--since', String(from + 1_000), '--until', String(to)];
  expect(await verifyOf([path], place, within)).toMatchObject({
    exitCode: 0,
    from: from + 1_000,
    to: to - 1,
  });
  const before = await verifyOf([path], place, ['--since', String(from - 1_000)]);
  expect(before).toMatchObject({
    exitCode: 10,
    status: 'gaps',
    gaps: [{ from: from - 1_000, to: from - 1 }],
  });
  writeFileSync(`${path}.gz`, gzipSync(text).subarray(0, 400));
  expect(await verifyOf([`${path}.gz`], place)).toMatchObject({ exitCode: 10, status: 'changed' });
});

test('wrong input is rejected before any file is compared', async () => {
  const { place, path } = await withFile();
  const other = join(place.home.path, 'callouts.ndjson');
  await run(['launchpad', 'callouts', '--since', '2d', '--out', other], place);
  expect(await verifyOf([other], place)).toMatchObject({ exitCode: 0, status: 'complete' });
  const mixed = await run(['verify', path, other], place);
  expect([mixed.exitCode, mixed.said]).toEqual([2, expect.stringContaining('different feeds')]);
  expect((await run('verify nowhere.ndjson', place)).exitCode).toBe(2);
  expect((await run(['verify', place.home.path], place)).exitCode).toBe(2);
  expect((await run('verify', place)).exitCode).toBe(2);
  expect((await run(['verify', path, '--since', '1h', '--until', '2h'], place)).exitCode).toBe(2);
});

test('a list is verified for the stretch that it has read, and a tail continues it', async () => {
  const sandbox = await withSandbox(plenty);
  const home = openHome();
  const place = { sandbox, home };
  const path = home.at('theses.ndjson');
  const list = async (...flags: string[]) => {
    expect((await run(['thesis', 'list', '--out', path, ...flags], place)).exitCode).toBe(0);
    const found = await verifyOf([path], place);
    return { from: 0, to: 0, ...found };
  };
  const timesOf = () =>
    readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => Number(JSON.parse(line).platformCreatedAt));
  // Without --since, three posts may be the last ones that were read.
  const limited = await list('--limit', '50');
  const [third = 0] = timesOf()
    .sort((a, b) => a - b)
    .slice(2);
  expect(limited).toMatchObject({ exitCode: 0, from: third + 1 });
  const since = Date.now() - 3 * 3_600_000;
  const all = await list('--since', String(since));
  expect(all).toMatchObject({ exitCode: 0, status: 'complete', from: since });
  expect(all.to).toBeLessThan(Math.max(...timesOf()));
  const tail = await run(
    'thesis tail --via poll --lag 200ms --duration 300ms --yes --out theses.ndjson',
    place,
  );
  expect(tail.exitCode, tail.stderr).toBe(0);
  const continued = await verifyOf([path], place);
  expect(continued).toMatchObject({
    exitCode: 0,
    status: 'complete',
    from: since,
    files: [{ duplicates: 0 }],
  });
});

test('a tail that was renamed, killed and continued is complete with its renamed file', async () => {
  const sandbox = await withSandbox(plenty);
  const home = openHome();
  const place = { sandbox, home };
  const [out, old] = [home.at('theses.ndjson'), home.at('old.ndjson')];
  const words = 'thesis tail --via poll --lag 200ms --backfill 30 --yes --out theses.ndjson'.split(
    ' ',
  );
  const first = startTrdr(words, { ...place, cwd: home.path });
  const read = () => readFileSync(out, 'utf8').split('\n').length - 1;
  await until(() => {
    try {
      return read() >= 30;
    } catch {
      return false;
    }
  });
  sandbox.post();
  await until(() => read() === 31);
  renameSync(out, old);
  first.kill('SIGKILL');
  await first;
  const again = await run(
    [...words.filter((word) => word !== '--backfill' && word !== '30'), '--duration', '300ms'],
    place,
  );
  expect(again.exitCode, again.stderr).toBe(0);
  expect(await verifyOf([out, old], place)).toMatchObject({
    exitCode: 0,
    status: 'complete',
    rows: 31,
  });
  const alone = await verifyOf([out], place);
  expect(alone.stderr).toMatch(/theses\.ndjson continues a file that is not there unchanged/);
});

test('a file of confluences that is renamed under its tail gets no certificate of posts', async () => {
  const sandbox = await withSandbox(plenty);
  const home = openHome();
  const [out, old] = [home.at('rule.ndjson'), home.at('old.ndjson')];
  const words = 'thesis tail --via poll --lag 200ms --since 1d --yes --out rule.ndjson';
  const tail = startInProcess([...words.split(' '), '--confluence', '2/12h'], { sandbox, home });
  const isWritten = () => existsSync(`${out}.trdr`) && readFileSync(out, 'utf8') !== '';
  await until(isWritten);
  renameSync(out, old);
  await until(() => existsSync(out));
  tail.kill('SIGTERM');
  await tail.ended;
  expect(existsSync(`${old}.trdr`)).toBe(false);
});
