import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { some } from '../repeats.ts';
import { until } from './feed.ts';
import { openDesk, recordsIn, startTrdr } from './harness.ts';
import { startInProcess } from './in-process.ts';

const plenty = {
  unmetered: true,
  ratePerMinute: 600_000,
  burstPerSecond: 100_000,
  theses: 400,
} as const;

const FILE = 'theses.ndjson';
const CERTIFICATE = `${FILE}.trdr`;
const TAIL = `thesis tail --via poll --lag 200ms --yes --out ${FILE}`;

interface Verified {
  readonly exitCode: number;
  readonly stderr: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

async function openPlace() {
  const { sandbox, home, run } = await openDesk(plenty);
  const verify = async (line: string): Promise<Verified> => {
    const { exitCode, stderr, records } = await run(`verify ${line}`);
    return { exitCode, stderr, ...records()[0] };
  };
  const succeed = async (line: string) => {
    const ran = await run(line);
    expect(ran.exitCode, ran.stderr).toBe(0);
  };
  return { sandbox, home, run, verify, succeed };
}

/** A place with a file that a tail wrote, with its certificate. */
async function writtenFile() {
  const place = await openPlace();
  await place.succeed(`${TAIL} --backfill 60 --count 60`);
  // The first walk of a resumed run verifies the feed.
  await place.succeed(`${TAIL} --duration 300ms`);
  return place;
}

let written: Promise<readonly [text: string, certificate: string]> | undefined;

/** Such a file in a new home: most tests need only what one tail wrote. */
async function withFile() {
  written ??= writtenFile().then(({ home }) => [home.read(FILE), home.read(CERTIFICATE)]);
  const [text, certificate] = await written;
  const place = await openPlace();
  place.home.write(FILE, text);
  place.home.write(CERTIFICATE, certificate);
  const change = (fields: object) =>
    place.home.write(CERTIFICATE, JSON.stringify({ ...JSON.parse(certificate), ...fields }));
  return { ...place, text, certificate, change };
}

test('a file of a tail is complete, plain, gzipped and while another line is written', async () => {
  const { home, verify, text } = await withFile();
  const rows = text.split('\n').length - 1;
  const complete = { exitCode: 0, status: 'complete', rows };
  expect(await verify(FILE)).toMatchObject({ ...complete, gaps: [] });
  home.write(`${FILE}.gz`, gzipSync(text));
  expect(await verify(`${FILE}.gz`)).toMatchObject(complete);
  expect((await verify(`${FILE} ${FILE}.gz`)).stderr).toContain(
    `${rows} posts in more than one file`,
  );
  // The pattern theses.*ndjson* also matches certificates.
  expect(await verify(`${FILE} ${CERTIFICATE}`)).toMatchObject({ ...complete, files: [{ rows }] });
  rmSync(home.at(FILE));
  expect(await verify(CERTIFICATE)).toMatchObject({ exitCode: 0, rows });
  // The order of the lines does not matter.
  home.write(FILE, recordsIn(text).reverse());
  expect(await verify(FILE)).toMatchObject(complete);
  appendFileSync(home.at(FILE), '{"id":"new","platformCreatedAt":1}\n{"id":"to');
  const growing = await verify(FILE);
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
  const { home, verify, text } = await withFile();
  home.write(FILE, change(text));
  const found = await verify(FILE);
  expect(found).toMatchObject({ exitCode: 10, status: 'changed', from: null });
  expect(found.stderr.replace(/\s+/g, ' ')).toMatch(why);
});

test('a file without its certificate, or with a damaged one, is not vouched for', async () => {
  const { sandbox, home, verify, certificate } = await withFile();
  expect(certificate).not.toContain(sandbox.key);
  home.write(CERTIFICATE, certificate.slice(0, 200));
  const damaged = await verify(FILE);
  expect(damaged).toMatchObject({ exitCode: 10, status: 'no certificate' });
  expect(damaged.stderr).toContain('damaged');
  rmSync(home.at(CERTIFICATE));
  const missing = await verify(FILE);
  expect(missing).toMatchObject({ exitCode: 10, status: 'no certificate', from: null });
  expect(missing.stderr).toContain(CERTIFICATE);
});

test('a certificate that is newer, or no regular file, is rejected with the way out', async () => {
  const { home, run } = await writtenFile();
  const certificate = home.at(CERTIFICATE);
  const tail = `${TAIL} --no-follow`;
  home.write(CERTIFICATE, home.read(CERTIFICATE).replace('"version":1', '"version":2'));
  for (const line of [`verify ${FILE}`, tail]) {
    const { exitCode, said } = await run(line);
    expect([line, exitCode, said]).toEqual([line, 9, expect.stringContaining('newer version')]);
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
  const wayOut = expect.stringMatching(/theses\.ndjson\.trdr: .*(check|move|use) /);
  for (const [kind, make] of some(Object.entries(kinds), 2)) {
    rmSync(certificate, { recursive: true });
    make();
    // Both read it in the same way, and a large one slowly.
    for (const line of [`verify ${FILE}`, ...(kind === 'folder' ? [tail] : [])]) {
      const { exitCode, said } = await run(line);
      expect([kind, line, exitCode, said]).toEqual([kind, line, 9, wayOut]);
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
  const { verify, change } = await withFile();
  change({ [name]: value });
  const found = await verify(FILE);
  expect(found).toMatchObject({ exitCode: 10, status: 'no certificate' });
  expect(found.stderr).toContain('damaged');
});

test('a feed without new posts is fresh while it is read, and the lock of its tail is passed over', async () => {
  const { home, run, verify, change } = await withFile();
  symlinkSync('someone', home.at(`${FILE}.lock`));
  expect(await verify(`${FILE} ${FILE}.lock ${CERTIFICATE} --fresh 1h`)).toMatchObject({
    ...{ exitCode: 0, status: 'complete', files: [{ status: 'complete' }] },
  });
  const old = Date.now() - 3 * 86_400_000;
  change({ readAt: old });
  const stale = await verify(`${FILE} --since 7d --fresh 1h`);
  expect(stale).toMatchObject({ exitCode: 10, readAt: old });
  expect(stale.stderr).toContain(new Date(old).toISOString());
  expect((await verify(`${FILE} --fresh 4d`)).exitCode).toBe(0);
  expect((await run(`verify ${FILE}.lock`)).exitCode).toBe(2);
});

test('a file that no walk has verified yet says so', async () => {
  const { verify, succeed } = await openPlace();
  await succeed(`${TAIL} --no-follow`);
  const young = await verify(FILE);
  expect(young).toMatchObject({ exitCode: 10, status: 'not verified yet', gaps: [] });
  expect(young.stderr).toContain('nothing is verified yet');
});

test('a stretch can be asked for, and a damaged gzip file is changed', async () => {
  const { home, verify, text } = await withFile();
  const { from, to } = await verify(FILE);
  const [first, end] = [Number(from), Number(to)];
  expect(await verify(`${FILE} --since ${first + 1_000} --until ${end}`)).toMatchObject({
    ...{ exitCode: 0, from: first + 1_000, to: end - 1 },
  });
  expect(await verify(`${FILE} --since ${first - 1_000}`)).toMatchObject({
    ...{ exitCode: 10, status: 'gaps', gaps: [{ from: first - 1_000, to: first - 1 }] },
  });
  home.write(`${FILE}.gz`, gzipSync(text).subarray(0, 400));
  expect(await verify(`${FILE}.gz`)).toMatchObject({ exitCode: 10, status: 'changed' });
});

test('wrong input is rejected before any file is compared', async () => {
  const { run, verify, succeed } = await withFile();
  await succeed('launchpad callouts --since 2d --out callouts.ndjson');
  expect(await verify('callouts.ndjson')).toMatchObject({ exitCode: 0, status: 'complete' });
  const mixed = await run(`verify ${FILE} callouts.ndjson`);
  expect([mixed.exitCode, mixed.said]).toEqual([2, expect.stringContaining('different feeds')]);
  for (const line of ['nowhere.ndjson', '.', '', `${FILE} --since 1h --until 2h`])
    expect([line, (await run(`verify ${line}`)).exitCode]).toEqual([line, 2]);
});

test('a list is verified for the stretch that it has read, and a tail continues it', async () => {
  const { home, verify, succeed } = await openPlace();
  const list = async (flags: string) => {
    await succeed(`thesis list --out ${FILE} ${flags}`);
    return await verify(FILE);
  };
  const times = () =>
    recordsIn(home.read(FILE))
      .map(({ platformCreatedAt }) => Number(platformCreatedAt))
      .sort((one, other) => one - other);
  // Without --since, three posts may be the last ones that were read.
  const limited = await list('--limit 50');
  expect(limited).toMatchObject({ exitCode: 0, from: Number(times()[2]) + 1 });
  const since = Date.now() - 3 * 3_600_000;
  const complete = { exitCode: 0, status: 'complete', from: since };
  const all = await list(`--since ${since}`);
  expect(all).toMatchObject(complete);
  expect(all.to).toBeLessThan(Number(times().at(-1)));
  await succeed(`${TAIL} --duration 300ms`);
  expect(await verify(FILE)).toMatchObject({ ...complete, files: [{ duplicates: 0 }] });
});

test('a tail that was renamed, killed and continued is complete with its renamed file', async () => {
  const { sandbox, home, verify, succeed } = await openPlace();
  const [out, old] = [home.at(FILE), home.at('old.ndjson')];
  const first = startTrdr(`${TAIL} --backfill 30`, { sandbox, home });
  const read = () => (existsSync(out) ? home.read(FILE).split('\n').length - 1 : 0);
  await until(() => read() >= 30);
  sandbox.post();
  await until(() => read() === 31);
  renameSync(out, old);
  first.kill('SIGKILL');
  await first;
  await succeed(`${TAIL} --duration 300ms`);
  expect(await verify(`${FILE} old.ndjson`)).toMatchObject({
    ...{ exitCode: 0, status: 'complete', rows: 31 },
  });
  const alone = await verify(FILE);
  expect(alone.stderr).toMatch(/theses\.ndjson continues a file that is not there unchanged/);
});

test('a file of confluences that is renamed under its tail gets no certificate of posts', async () => {
  const { sandbox, home } = await openPlace();
  const tail = startInProcess(`${TAIL} --since 1d --confluence 2/12h`, { sandbox, home });
  await until(() => existsSync(home.at(CERTIFICATE)) && home.read(FILE) !== '');
  renameSync(home.at(FILE), home.at('old.ndjson'));
  await until(() => existsSync(home.at(FILE)));
  tail.kill('SIGTERM');
  await tail.ended;
  expect(existsSync(home.at('old.ndjson.trdr'))).toBe(false);
});
