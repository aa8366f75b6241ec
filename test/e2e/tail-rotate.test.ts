import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { finishedFiles } from '../../src/tail/file/rotation.ts';
import { repeats, SEED } from '../repeats.ts';
import { rngOf } from '../sim/rng.ts';
import {
  compare,
  idsOf,
  listening,
  plenty,
  readText,
  startPosting,
  startTail,
  startTailProgram,
  until,
} from './feed.ts';
import { openDesk } from './harness.ts';

const KILLS = repeats('ROTATE_KILLS', 1, 40);

test('finished files and the current file have each post once, whenever the tail is killed', async () => {
  const random = rngOf(SEED);
  const { sandbox, home, run } = await openDesk(plenty);
  const out = home.at('theses.ndjson');
  const flags = ['--out', out, '--rotate', '20kB', '--yes', '--lag', '200ms'];
  const start = (last: readonly string[]) =>
    startTailProgram([...flags, ...last], { sandbox, home });
  let posted: ReturnType<typeof startPosting> | undefined;
  for (let kill = 0; kill < KILLS; kill++) {
    const tail = start([]);
    await until(() => listening(sandbox) > 0);
    posted ??= startPosting(sandbox, 10);
    const before = posted.ids.length;
    await until(() => (posted?.ids.length ?? 0) > before + 40 + random.int(60));
    tail.child.kill('SIGKILL');
    await tail.child;
    // The sandbox needs a moment to notice that the socket is gone.
    await until(() => listening(sandbox) === 0);
  }
  posted?.stop();
  const last = start(['--duration', '1500ms']);
  const { exitCode } = await last.child;
  expect(exitCode, last.stderr).toBe(0);
  const files = finishedFiles(out);
  expect(files.length, `SEED=${SEED}`).toBeGreaterThan(KILLS);
  const ids = [...files.map(({ path }) => readText(path)), readText(out)].flatMap(idsOf);
  expect([...ids].sort(), `SEED=${SEED}`).toEqual([...(posted?.ids ?? [])].sort());
  // Each file keeps its certificate, and all of them together have no gap.
  const paths = [out, ...files.map(({ path }) => path)];
  const verified = await run(['verify', ...paths]);
  expect(verified.records(), `SEED=${SEED} ${verified.stderr}`).toMatchObject([
    { rows: ids.length, gaps: [], files: paths.map((file) => ({ file, gaps: [] })) },
  ]);
});

test.each([
  ['before its first page', 'delay@thesis.all*1=1s'],
  ['later', ''],
])('SIGUSR2 %s does not end a tail, which continues in a new file', async (_, faults) => {
  const { sandbox, home } = await openDesk({ ...plenty, faults });
  const out = home.at('theses.ndjson');
  const tail = startTailProgram(['--out', out, '--yes', '--via', 'poll', '--lag', '200ms'], {
    sandbox,
    home,
  });
  await until(
    () => tail.stderr.includes('polling') && (faults !== '' || sandbox.meter().totalUnits > 200),
  );
  renameSync(out, `${out}.1`);
  tail.child.kill('SIGUSR2');
  await until(() => tail.stderr.includes('was renamed'));
  expect(readText(out)).toBe('');
  // The next pages are read.
  await until(() => sandbox.log.filter(({ endpoint }) => endpoint === 'thesis.all').length > 2);
  const { id } = sandbox.post();
  await until(() => idsOf(readText(out)).includes(id));
  tail.child.kill('SIGTERM');
  expect((await tail.child).exitCode).toBe(143);
});

test.each<[how: string, move: (out: string) => void]>([
  ['deleted', (out) => rmSync(out)],
  [
    'replaced by one without a line end',
    (out) => {
      writeFileSync(`${out}.1`, '{"id":"foreign","platformCreatedAt":1}');
      renameSync(`${out}.1`, out);
    },
  ],
])('a tail loses no post while its file is %s', async (_, move) => {
  const { sandbox, home } = await openDesk(plenty);
  const out = home.at('theses.ndjson');
  const tail = startTail(['--out', out, '--yes', '--via', 'ws'], { sandbox, home });
  await until(() => listening(sandbox) > 0);
  const posting = startPosting(sandbox, 2);
  const before: string[] = [];
  for (let times = 0; times < 3; times++) {
    await until(() => idsOf(readText(out)).length > 30);
    before.push(...idsOf(readText(out)));
    move(out);
  }
  posting.stop();
  const all = () => [...before, ...idsOf(readText(out))].filter((id) => id !== 'foreign');
  await until(() => compare(posting.ids, all()).lost.length === 0);
  tail.kill('SIGTERM');
  expect((await tail.ended).exitCode).toBe(143);
  expect(compare(idsOf(readText(out)), idsOf(readText(out))).doubled).toEqual([]);
});
