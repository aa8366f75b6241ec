import { renameSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { virtualClock } from '../core/virtual-clock.ts';
import { readText } from './feed.ts';
import { openDesk, openHome, recordsIn, runInProcess, wordsOf } from './harness.ts';

const MINUTE = 60_000;
const plenty = { unmetered: true, ratePerMinute: 600_000, burstPerSecond: 600_000 } as const;

/** A feed of one token, to which posts are added, one in a minute, and a tail that writes them to a file. */
async function openFeed() {
  const { sandbox, home } = await openDesk({ ...plenty, theses: 1 });
  const out = home.at('alerts.ndjson');
  const [sample] = sandbox.world.theses().slice(undefined, 1, Date.now())?.items ?? [];
  if (!sample) throw new Error('no post');
  const start = Date.now() - 5 * 3_600_000;
  let minute = 0;
  return {
    home,
    out,
    add(many: number) {
      for (let each = 0; each < many; each++) {
        minute++;
        const platformCreatedAt = start + minute * MINUTE;
        const id = `p${minute}`;
        sandbox.world.addThesis(platformCreatedAt, { ...sample, id, platformCreatedAt });
      }
    },
    run: (...words: readonly string[]) =>
      runInProcess(['thesis', 'tail', '--no-follow', ...words], {
        ...{ sandbox, home, clock: virtualClock(Date.now()) },
      }),
    printed: () => recordsIn(readText(out)).map(({ id, held }) => [id, held]),
  };
}

test('a tail prints one post in the time, over restarts, and its certificate says so', async () => {
  const { home, out, add, run, printed } = await openFeed();
  const words = ['--out', out, '--since', '1d'];
  add(25);
  const first = await run(...words, '--cooldown', 'tokenAddress/10m');
  expect(first.exitCode, first.stderr).toBe(0);
  expect(first.stderr).toContain(' held back');
  const before = printed();
  expect(before.slice(-3).map(([id]) => id)).toEqual(['p1', 'p11', 'p21']);
  expect(before.at(-1)).toEqual(['p21', 9]);
  add(5);
  expect((await run(...words, '--cooldown', 'tokenAddress/10m')).exitCode).toBe(0);
  expect(printed()).toEqual(before);
  add(5);
  expect((await run(...words, '--cooldown', 'tokenAddress/10m')).exitCode).toBe(0);
  expect(printed()).toEqual([...before, ['p31', 9]]);
  const certificate = JSON.parse(readText(`${out}.trdr`));
  expect(certificate.filters).toEqual({ cooldown: 'tokenAddress/600000ms' });
  expect(certificate.rows).toBe(printed().length);
  // Without the state, the lines after the position would be written twice.
  const position = readText(`${out}.trdr`);
  add(20);
  expect((await run(...words, '--cooldown', 'tokenAddress/10m')).exitCode).toBe(0);
  const after = printed();
  writeFileSync(`${out}.trdr`, position);
  expect((await run(...words, '--cooldown', 'tokenAddress/10m')).exitCode).toBe(0);
  expect(printed()).toEqual(after);
  // The same if somebody has moved the file: a post within the time of one in it is held back.
  writeFileSync(`${out}.trdr`, position);
  renameSync(out, home.at('moved.ndjson'));
  add(5);
  expect((await run(...words, '--cooldown', 'tokenAddress/10m')).exitCode).toBe(0);
  const moved = recordsIn(readText(home.at('moved.ndjson'))).map(({ id, held }) => [id, held]);
  expect([...moved, ...printed()]).toEqual(after);
  // Another rule is another filter: what was printed of the field still counts.
  add(1);
  const other = await run(...words, '--cooldown', 'tokenAddress/20m');
  expect(other.stderr).toContain('other filters than in the last run');
  expect(printed()).toEqual([]);
  expect((await runInProcess(['verify', out], { home })).exitCode).not.toBe(2);
});

test('--count leaves to the next run what it has not printed', async () => {
  const { home, add, run } = await openFeed();
  const words = ['--checkpoint', home.at('c.json')];
  expect((await run(...words)).exitCode).toBe(0);
  add(45);
  const seen: unknown[] = [];
  for (let each = 0; each < 4; each++) {
    const ran = await run(...words, '--cooldown', 'tokenAddress/10m', '--count', '1');
    expect(ran.exitCode, ran.stderr).toBe(0);
    seen.push(...ran.records().map(({ id, held }) => [id, held]));
  }
  expect(seen).toEqual([
    ['p1', 0],
    ['p11', 9],
    ['p21', 9],
    ['p31', 9],
  ]);
});

const posts = Array.from({ length: 60 }, (_, i) => ({
  id: `p${i}`,
  tokenAddress: i % 2 === 0 ? '0xAB' : '0xab',
  tokenSymbol: 'T',
  authorHandle: `author${i % 6}`,
  thesis: `thesis ${i}`,
  platformCreatedAt: Date.parse('2026-05-12T10:00:00Z') + i * MINUTE,
}));

/** Runs without a service and without a key. */
async function openReplay(words: readonly string[], some: readonly object[] = posts) {
  const home = openHome();
  const file = home.write('posts.ndjson', some);
  const ran = await runInProcess([...words, '--replay', file], { home, key: null });
  return { home, ran };
}

test.each([
  ['--cooldown tokenAddress/20m', ['p0 0', 'p20 19', 'p40 19']],
  ['--cooldown tokenAddress/20m --count 2', ['p0 0', 'p20 19']],
  ['--cooldown authorHandle/30m --user author1', ['p1 0', 'p31 4']],
  ['--confluence 3/5m --cooldown tokenAddress/1d', ['p0 0']],
])('a rule is tried on recorded posts: %s', async (flags, expected) => {
  for (const some of [posts, posts.toReversed()]) {
    const { ran } = await openReplay(wordsOf(`thesis tail ${flags}`), some);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(ran.records().map(({ id, held }) => `${id} ${held}`)).toEqual(expected);
    // With --confluence, these are no posts.
    expect(ran.stderr).not.toContain('posts held back');
    expect(ran.stderr).toContain(` ${expected.length} printed`);
  }
});

test('callouts are held back by coin and wallet, and a command gets what is printed', async () => {
  const callouts = posts.map(({ id, authorHandle, platformCreatedAt }) => ({
    ...{ id, wallet: authorHandle, coinMint: 'M', createdAt: platformCreatedAt },
  }));
  const words = ['launchpad', 'tail', '--cooldown', 'wallet/1h', '--exec', 'cat >> seen'];
  const { home, ran } = await openReplay(words, callouts);
  expect(ran.exitCode, ran.stderr).toBe(0);
  expect(readText(home.at('seen')).match(/"held":0/g)).toHaveLength(6);
  expect(ran.stderr).toContain('54 held back');
  const { ran: table } = await openReplay(
    ['launchpad', 'tail', '--cooldown', 'coinMint/30m', '-o', 'table'],
    callouts,
  );
  expect(table.stdout.split('\n')[0]).toContain('held');
});
