import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { keysOf } from '../../src/store/keys.ts';
import { readText, until } from '../e2e/feed.ts';
import { openHome, withSandbox } from '../e2e/harness.ts';
import { type StartedRun, startInProcess } from '../e2e/in-process.ts';
import { has } from '../tools.ts';
import { startServer } from './server.ts';

/** A store, a relay that leads its feed, and a follower that writes to a file. */
async function opened() {
  const server = await startServer();
  const sandbox = await withSandbox({ unmetered: true, ratePerMinute: 600_000, theses: 1 });
  const [sample] = sandbox.world.theses().slice(undefined, 1, Date.now())?.items ?? [];
  if (!sample) throw new Error('no post');
  const [home, relayHome] = [openHome(), openHome()];
  const env = { TRDR_STORE: server.url };
  const store = await server.connect();
  const feed = keysOf({ baseUrl: sandbox.url, key: sandbox.key }).feed('thesis');
  const inHome = (args: readonly string[]) => home.run(args, { sandbox, env, cwd: home.path });
  let relay: StartedRun | undefined;
  let time = Date.now() - 12 * 3_600_000;
  const stop = async () => {
    relay?.kill('SIGTERM');
    await relay?.ended;
  };
  return {
    store,
    feed,
    stop,
    /** Publishes posts of the next ten minutes. The first walk of another relay then verifies all but two of these. */
    async pass() {
      for (let each = 0; each < 20; each++) {
        time += 30_000;
        sandbox.world.addThesis(time, { ...sample, id: `p${time}`, platformCreatedAt: time });
      }
      await stop();
      const args = ['thesis', 'relay', '--via', 'poll', '--lag', '200ms', '--yes'];
      relay = startInProcess(args, { sandbox, env, home: relayHome });
      await until(
        async () => Number(await store.send('HGET', [feed.info, 'floor'])) > time - 300_000,
      );
    },
    follow: (...flags: readonly string[]) =>
      inHome(['thesis', 'tail', '--via', 'store', '--no-follow', '--out', 'a.ndjson', ...flags]),
    async verify(...flags: readonly string[]) {
      const ran = await inHome(['verify', 'a.ndjson', '-o', 'ndjson', ...flags]);
      return { exitCode: ran.exitCode, ...ran.records()[0] };
    },
    lines: () =>
      readText(join(home.path, 'a.ndjson'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { readonly id: string; readonly held: number }),
    tail: () =>
      inHome(['thesis', 'tail', '--via', 'poll', '--no-follow', '--yes', '--out', 'a.ndjson']),
  };
}

describe.skipIf(!has('redis-server'))('the certificate of a follower', () => {
  it('names a cooldown, which continues where the last run stopped', async () => {
    const { follow, pass, verify, stop, lines } = await opened();
    // The first relay starts with new posts, so what is there before it is not in the store.
    for (let run = 0; run < 3; run++) {
      await pass();
      expect((await follow('--since', '1d', '--cooldown', 'tokenAddress/3m')).exitCode).toBe(0);
    }
    await stop();
    const posts = lines();
    const minutes = posts.map(
      ({ id }) => (Number(id.slice(1)) - Number(posts[0]?.id.slice(1))) / 60_000,
    );
    expect(minutes).toEqual([0, 3, 6, 9, 12, 15, 18]);
    expect(posts.map(({ held }) => held)).toEqual([0, 5, 5, 5, 5, 5, 5]);
    expect(await verify()).toMatchObject({ rows: 7 });
  });

  it('claims what the relay has verified and the file has, and states what the store had lost', async () => {
    const { follow, pass, verify, store, feed } = await opened();
    await pass();
    expect((await follow()).exitCode).toBe(0);
    await pass();
    expect((await follow()).exitCode).toBe(0);
    const whole = await verify();
    expect(whole).toMatchObject({ exitCode: 0, status: 'complete', rows: 20, gaps: [] });
    const before = timesOf(whole);
    expect(before.to - before.from).toBeGreaterThan(300_000);

    // The follower misses posts; then it reads on.
    await pass();
    await store.send('XTRIM', [feed.stream, 'MAXLEN', 5]);
    expect((await follow()).exitCode).toBe(9);
    await pass();
    expect((await follow()).exitCode).toBe(0);
    const holed = await verify();
    expect(holed).toMatchObject({ exitCode: 10, status: 'gaps', rows: 45 });
    const after = timesOf(holed);
    const [gap] = after.gaps;
    expect([after.from, after.gaps.length, gap?.from]).toEqual([before.from, 1, before.to]);
    expect((gap?.to ?? 0) - before.to).toBeGreaterThan(400_000);
    expect(after.to - (gap?.to ?? 0)).toBeGreaterThan(300_000);
    expect(gap?.why).toContain('the store');

    // With another filter, another file begins, in which nothing is vouched for before.
    await pass();
    expect((await follow('--symbol', 'NONE')).exitCode).toBe(0);
    const [old, young] = timesOf(await verify()).files;
    expect([old?.from, old?.to, young?.from]).toEqual([after.from, after.to, after.to + 1]);
  });

  it('is continued by a tail of the service, and continues that of one', async () => {
    const { follow, pass, verify, tail } = await opened();
    await pass();
    await follow();
    await pass();
    await follow();
    const { from } = timesOf(await verify());
    await pass();
    expect((await tail()).exitCode).toBe(0);
    const tailed = await verify();
    expect(tailed).toMatchObject({ exitCode: 0, from, rows: 40 });
    await pass();
    expect((await follow()).exitCode).toBe(0);
    const followed = await verify();
    expect(followed).toMatchObject({ exitCode: 0, from, rows: 60 });
    expect(timesOf(followed).to).toBeGreaterThan(timesOf(tailed).to);
  });

  it('claims nothing if the relay saves no position', async () => {
    const { follow, pass, verify, store, feed, stop } = await opened();
    await pass();
    await follow();
    await pass();
    await stop();
    await store.send('DEL', [feed.mark]);
    expect((await follow()).exitCode).toBe(0);
    expect(await verify()).toMatchObject({ exitCode: 10, from: null, rows: 20 });
  });
});

const Claims = z.looseObject({
  files: z.array(z.looseObject({ from: z.number(), to: z.number() })),
  from: z.number(),
  to: z.number(),
  gaps: z.array(z.object({ from: z.number(), to: z.number(), why: z.string() })),
});
const timesOf = (record: unknown) => Claims.parse(record);
