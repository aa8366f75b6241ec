import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { Post } from '../../src/store/feed/leader-term.ts';
import { keysOf } from '../../src/store/keys.ts';
import { openHome, runInProcess, withSandbox } from '../e2e/harness.ts';
import { some } from '../repeats.ts';
import { has } from '../tools.ts';
import { startServer } from './server.ts';
import { lead } from './terms.ts';

/** A service with 60 posts, and a store whose feed has none of them yet. `tail` reads from the store. */
async function opened(isTied = false) {
  const server = await startServer();
  const sandbox = await withSandbox({ unmetered: true, ratePerMinute: 60_000 });
  const tied = { ...sandbox.post(), platformCreatedAt: sandbox.clock.now() };
  for (let each = 0; each < 60; each++)
    sandbox.post(isTied ? { ...tied, id: `post${each}` } : undefined);
  const options = { sandbox, home: openHome(), env: { TRDR_STORE: server.url } };
  const listed = await runInProcess(['thesis', 'list', '--limit', '60', '-o', 'ndjson'], options);
  const posts = listed
    .lines()
    .map((body): Post => {
      const { id, platformCreatedAt } = JSON.parse(body);
      return { id, at: platformCreatedAt, body };
    })
    .reverse();
  const store = await server.connect();
  const feed = keysOf({ baseUrl: sandbox.url, key: sandbox.key }).feed('thesis');
  const publishAgain = async () => {
    const term = await lead(store, { feed });
    return (...posts: Parameters<typeof term.publish>) => term.publish(...posts);
  };
  const publish = await publishAgain();
  const lose = () => store.send('FLUSHALL', []);
  const trim = (left = 10) => store.send('XTRIM', [feed.stream, 'MAXLEN', left]);
  const words = (count: number) => `thesis tail --via store --count ${count} --yes`.split(' ');
  const tail = (count: number, ...flags: readonly string[]) =>
    runInProcess([...words(count), '-o', 'ndjson', ...flags], options);
  const tailAt = (hours: number, ...flags: readonly string[]) => {
    const clock = { ...systemClock, now: () => Date.now() + hours * 3_600_000 };
    return runInProcess([...words(60), '-o', 'ndjson', ...flags], { ...options, clock });
  };
  const checkpoint = ['--backfill', '100', '--checkpoint', join(options.home.path, 'ck')];
  return { sandbox, posts, publish, publishAgain, lose, trim, tail, tailAt, checkpoint };
}

describe.skipIf(!has('redis-server'))('a tail from the store whose clock is hours off', () => {
  it.each([-2, 2])('counts an age from the clock of the store: %i hours ahead', async (hours) => {
    const { posts, publish, tailAt } = await opened();
    await publish(posts);
    const ran = await tailAt(hours, '--since', '10m', '--duration', '5s');
    expect(ran.records(), ran.stderr).toHaveLength(posts.length);
  });
});

describe.skipIf(!has('redis-server'))('a tail from the store with --no-follow', () => {
  it('prints the posts that the store has, resumes, and exits 9 after a gap', async () => {
    const { posts, publish, trim, tail, checkpoint } = await opened();
    const words = [...checkpoint, '--no-follow'];
    await publish(posts.slice(0, 10));
    const first = await tail(100, ...words);
    expect([first.exitCode, first.records().length], first.stderr).toEqual([0, 10]);
    expect((await tail(100, ...words)).records()).toEqual([]);
    await publish(posts.slice(10));
    await trim();
    const gap = await tail(100, ...words);
    expect([gap.exitCode, gap.records().length], gap.stderr).toEqual([9, 10]);
  });
});

describe.skipIf(!has('redis-server'))('a tail that the store has trimmed posts of', () => {
  it.each<[string, { behind: number; left?: number; isDeleted?: boolean; isTied?: boolean }]>([
    ['the start of the gap is still there', { behind: 5 }],
    ['the start of the gap was deleted', { behind: 5, isDeleted: true }],
    ['the late post is the first one after the gap', { behind: 9 }],
    ['posts have the same time', { behind: 9, isTied: true }],
    ['many posts follow', { behind: 24, left: 25 }],
  ])('prints each of them once with --fill, also late ones, if %s', async (_, given) => {
    const { behind, left = 10, isDeleted = false, isTied = false } = given;
    const { sandbox, posts, publish, trim, tail, checkpoint } = await opened(isTied);
    const [first, rest] = [posts.slice(0, 10), posts.slice(10)];
    const late = rest.splice(20, 1);
    await publish(first);
    const before = await tail(10, '--fill', ...checkpoint);
    expect(before.exitCode, before.stderr).toBe(0);
    await publish([...rest.slice(0, -behind), ...late, ...rest.slice(-behind)]);
    await trim(left);
    if (isDeleted) sandbox.world.theses().remove(first.at(-1)?.id ?? '');
    const after = await tail(50, '--fill', '--duration', '60s', ...checkpoint);
    expect(after.exitCode, after.stderr).toBe(0);
    expect(after.stderr).toContain('fetching them from the service');
    const ids = [...before.records(), ...after.records()].map(({ id }) => id);
    expect(ids.toSorted()).toEqual(posts.map(({ id }) => id).toSorted());
  });

  it('continues after the posts that --count let it print, also in the gap', async () => {
    const { posts, publish, trim, tail, checkpoint } = await opened();
    const ids: unknown[] = [];
    const read = async (runs: number) => {
      for (let each = 0; each < runs; each++) {
        const ran = await tail(10, '--fill', ...checkpoint);
        expect(ran.exitCode, ran.stderr).toBe(0);
        ids.push(...ran.records().map(({ id }) => id));
      }
    };
    await publish(posts.slice(0, 30));
    await read(2);
    await publish(posts.slice(30));
    await trim();
    await read(4);
    expect(ids.toSorted()).toEqual(posts.map(({ id }) => id).toSorted());
  });

  it('fetches each of them once if --count ends runs in the gap, also after --since', async () => {
    const { sandbox, posts, publish, trim, tail, checkpoint } = await opened();
    await publish(posts);
    await trim();
    const flags = [
      '--fill',
      '--since',
      new Date(posts[0]?.at ?? 0).toISOString(),
      ...checkpoint.slice(2),
    ];
    const before = sandbox.meter().totalUnits;
    const ids: unknown[] = [];
    for (let each = 0; each < 6; each++) {
      const ran = await tail(10, ...flags);
      expect(ran.exitCode, ran.stderr).toBe(0);
      ids.push(...ran.records().map(({ id }) => id));
    }
    expect(ids).toEqual(posts.map(({ id }) => id));
    expect(sandbox.meter().totalUnits - before).toBeLessThanOrEqual(3_000);
  });

  it('exits 9 without --fill', async () => {
    const { posts, publish, trim, tail, checkpoint } = await opened();
    await publish(posts.slice(0, 10));
    expect((await tail(10, ...checkpoint)).exitCode).toBe(0);
    await publish(posts.slice(10));
    await trim();
    const after = await tail(10, ...checkpoint);
    expect([after.exitCode, after.records().length, after.error()['code']]).toEqual([9, 10, 'GAP']);
  });
});

describe.skipIf(!has('redis-server'))('a tail whose store has lost everything', () => {
  it.each(some([[['--checkpoint', 'ck']], [['--out', 'posts.ndjson']]], 1))(
    'reports a gap and exits 9, also if no relay comes back: %j',
    async (flags) => {
      const { posts, publish, publishAgain, lose, tail } = await opened();
      const own = ['--backfill', '100', ...flags];
      await publish(posts.slice(0, 10));
      expect((await tail(10, ...own)).exitCode).toBe(0);
      await lose();
      for (const [text, missed] of [
        ['posts after .* may be missing: the store has lost', 20],
        ['may be missing,? between', 0],
      ] as const) {
        const ran = await tail(40, '--duration', '3s', ...own);
        expect([ran.exitCode, ran.error()['code']], ran.stderr).toEqual([9, 'GAP']);
        expect(ran.stderr).toMatch(new RegExp(text));
        expect(ran.stderr).toMatch(/stopped.*\b1 gap\b/);
        if (missed > 0) await (await publishAgain())(posts.slice(missed));
      }
      const later = await tail(10, '--duration', '1s', ...own);
      expect(later.exitCode, later.stderr).toBe(0);
      expect(later.stderr).toContain('no gaps');
    },
  );

  it('fetches the posts of the gap with --fill, each of them once', async () => {
    const { posts, publish, publishAgain, lose, tail, checkpoint } = await opened();
    await publish(posts.slice(0, 10));
    const before = await tail(10, '--fill', ...checkpoint);
    await publish(posts.slice(10, 20));
    await lose();
    await (await publishAgain())(posts.slice(30));
    const after = await tail(50, '--fill', ...checkpoint);
    expect(after.exitCode, after.stderr).toBe(0);
    const ids = [...before.records(), ...after.records()].map(({ id }) => id);
    expect(ids.toSorted()).toEqual(posts.map(({ id }) => id).toSorted());
  });
});
