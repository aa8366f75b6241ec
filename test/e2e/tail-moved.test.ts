import {
  appendFileSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { idsOf, listening, readText, startPosting, startTail, until } from './feed.ts';
import { openHome, withSandbox } from './harness.ts';

const open = { unmetered: true, ratePerMinute: 600_000, burstPerSecond: 100_000, theses: 50 } as const;

/** Changes to the file of a running tail; each returns what remains of the old file. */
const moves: Readonly<Record<string, (out: string) => () => string>> = {
  renamed(out) {
    renameSync(out, `${out}.1`);
    return () => readText(`${out}.1`);
  },
  deleted(out) {
    const text = readText(out);
    rmSync(out);
    return () => text;
  },
  'replaced by one without a line end'(out) {
    const text = readText(out);
    writeFileSync(`${out}.new`, '{"id":"other","platformCreatedAt":1}');
    renameSync(`${out}.new`, out);
    return () => text;
  },
  truncated(out) {
    const text = readText(out);
    truncateSync(out);
    return () => text;
  },
};

describe.each(Object.keys(moves))('an output that is %s', (how) => {
  test.each([
    ['while the tail runs', false, []],
    ['with a checkpoint, and the tail is killed immediately', true, ['checkpoint']],
  ] as const)('loses and repeats nothing: %s', async (_, killed, more) => {
    const sandbox = await withSandbox(open);
    const home = openHome();
    const out = join(home.path, 'theses.ndjson');
    const flags = more.length > 0 ? ['--checkpoint', join(home.path, 'tail.json')] : [];
    const start = () => startTail(['--out', out, '--yes', '--lag', '200ms', ...flags], { sandbox, home });
    let client = start();
    await until(() => listening(sandbox) > 0);
    const posting = startPosting(sandbox, 25);
    // The tail must have written all posts, because a row that it writes while the file changes would be lost.
    await until(() => posting.ids.length > 15 && readText(out).includes(posting.ids.at(-1) ?? ''));
    const kept = moves[how]?.(out) ?? (() => '');
    if (killed) {
      client.child.kill('SIGKILL');
      await client.child;
      const missed = posting.ids.length + 5;
      await until(() => posting.ids.length > missed);
      client = start();
    }
    const later = posting.ids.length + 15;
    await until(() => posting.ids.length > later);
    posting.stop();
    const last = posting.ids.at(-1) ?? '';
    await until(() => readText(out).includes(last));
    client.child.kill('SIGTERM');
    const { exitCode } = await client.child;
    expect(exitCode, client.stderr).toBe(143);
    const [before, after] = [idsOf(kept()), idsOf(readText(out)).filter((id) => id !== 'other')];
    expect(new Set(after).size).toBe(after.length);
    const all = new Set([...before, ...after]);
    expect(posting.ids.filter((id) => !all.has(id))).toEqual([]);
    // A renamed file still exists, so its posts are not repeated.
    if (how === 'renamed') expect(after.filter((id) => before.includes(id))).toEqual([]);
    if (how !== 'truncated') expect(client.stderr).toMatch(/was (renamed|deleted|moved or deleted)/);
  });
});

test('two tails cannot write one file by two names', async () => {
  const sandbox = await withSandbox(open);
  const home = openHome();
  const [out, other] = [join(home.path, 'a.ndjson'), join(home.path, 'b.ndjson')];
  appendFileSync(out, '');
  linkSync(out, other);
  const first = startTail(['--out', out, '--via', 'poll', '--yes'], { sandbox, home });
  await until(() => first.stderr.includes('polling'));
  const second = startTail(['--out', other, '--via', 'poll', '--yes'], { sandbox, home });
  expect((await second.child).exitCode).toBe(9);
  expect(second.stderr).toContain('LOCKED');
  first.child.kill('SIGTERM');
  await first.child;
});

test('a checkpoint that can no longer be written ends the tail with its reason', async () => {
  const sandbox = await withSandbox(open);
  const home = openHome();
  const folder = join(home.path, 'sub');
  mkdirSync(folder);
  const checkpoint = join(folder, 'tail.json');
  const tail = startTail(['--checkpoint', checkpoint, '--via', 'poll', '--lag', '200ms', '--yes'], {
    sandbox,
    home,
  });
  await until(() => readText(checkpoint) !== '');
  rmSync(folder, { recursive: true });
  startPosting(sandbox, 50);
  expect((await tail.child).exitCode).toBe(9);
  expect(tail.stderr).toMatch(/tail\.json: /);
  expect(tail.stderr).not.toMatch(/BUG|\n\s+at /);
});
