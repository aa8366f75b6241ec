import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { StoreConnection } from '../../src/store/connection.ts';
import { readEntries } from '../../src/store/feed/entry.ts';
import { type FollowEvent, Follower } from '../../src/store/feed/follower.ts';
import type { RelayMemory } from '../../src/store/feed/leader-term.ts';
import type { Begin, FeedPosition } from '../../src/store/feed/start.ts';
import type { RedisArgument } from '../../src/store/script.ts';
import { until } from '../e2e/feed.ts';
import { repeats, SEED } from '../repeats.ts';
import { rngOf } from '../sim/rng.ts';
import { has } from '../tools.ts';
import { type StoreServer, startServer } from './server.ts';
import { askForTerm, feed, lead, post } from './terms.ts';

/** How often a server loses entries that a new leader publishes again. */
const ROUNDS = repeats('FEED_ROUNDS', 12, 1_000);

/** Collects the events of a follower until it has the wanted number of rows; if 0, until the end of the stream. */
async function collect(
  server: StoreServer,
  begin: Begin,
  wanted: number,
  during: () => Promise<void> = async () => {},
) {
  const follower = new Follower({
    ...{ open: () => server.connect({ commandMs: 10_000 }), feed, begin, blockMs: 50, marks: true },
    clock: { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 20), signal) },
  });
  const ids: string[] = [];
  const others: FollowEvent[] = [];
  const done = new AbortController();
  let position: FeedPosition | undefined;
  let acting: Promise<void> | undefined;
  for await (const event of follower.events(done.signal)) {
    if (event.kind === 'rows') ids.push(...event.rows.map(({ id }) => id));
    else if (event.kind !== 'begun') others.push(event);
    position = follower.position();
    if (event.kind === 'live') acting ??= during();
    if (wanted > 0 && ids.length >= wanted && acting !== undefined) done.abort();
    if (wanted === 0 && event.kind === 'live') done.abort();
  }
  await acting;
  return { ids, others, position };
}

describe.skipIf(!has('redis-server'))('the feed in a store', () => {
  it('has one leader; when the leader resigns, another takes over, and finds its checkpoint and ids', async () => {
    const server = await startServer();
    const [one, two] = [await server.connect(), await server.connect()];
    const first = await lead(one);
    expect(await askForTerm(two)).toEqual({ leftMs: expect.any(Number) });
    await first.publish([post('a', 1_000), post('b', 2_000)]);
    await first.save('mark one', 1_500);
    await first.resign();
    expect(first.over.aborted).toBe(true);
    const second = await lead(two);
    expect(second.mark).toBe('mark one');
    expect(second.published).toMatchObject([
      { id: 'b', at: 2_000 },
      { id: 'a', at: 1_000 },
    ]);
  });

  it('fences a leader whose lease was taken over', async () => {
    const server = await startServer();
    const [one, two] = [await server.connect(), await server.connect()];
    const first = await lead(one, { leaseMs: 60_000 });
    await two.send('DEL', [feed.lease]);
    await lead(two);
    await expect(first.publish([post('x')])).rejects.toThrow(/has lost its lease/);
    expect(first.over.aborted).toBe(true);
    expect(await two.send('XLEN', [feed.stream])).toBe(0);
  });

  it('is led again at once by a process whose connection broke, and by no other process', async () => {
    const server = await startServer();
    const [one, two] = [await server.connect(), await server.connect()];
    const three = await server.connect();
    const memory: RelayMemory = { token: '', state: undefined };
    const first = await lead(one, { leaseMs: 60_000, memory });
    await first.publish([post('a', 1_000)]);
    one.close();
    await until(() => first.over.aborted);
    expect(await askForTerm(two)).toEqual({ leftMs: expect.any(Number) });
    const again = await lead(three, { leaseMs: 60_000, memory });
    expect(again.published).toMatchObject([{ id: 'a', at: 1_000 }]);
    expect([again.token === first.token, memory.token]).toEqual([false, again.token]);
    await expect(first.publish([post('b')])).rejects.toThrow();
    expect(await askForTerm(two)).toEqual({ leftMs: expect.any(Number) });
  });

  it('ends a term with its lease when the store cannot be reached to renew it', async () => {
    const server = await startServer();
    const store = await server.connect({ commandMs: 60_000 });
    const { over } = await lead(store, { leaseMs: 300 });
    server.pause();
    await until(() => over.aborted);
    expect(store.lost.aborted).toBe(false);
    server.resume();
  });

  it('waits with its posts while the store is full', async () => {
    const server = await startServer();
    const store = await server.connect();
    const leading = await lead(store);
    await store.send('CONFIG', ['SET', 'maxmemory', '1']);
    const publishing = leading.publish([post('a')]);
    await systemClock.sleep(50);
    expect(await store.send('XLEN', [feed.stream])).toBe(0);
    await store.send('CONFIG', ['SET', 'maxmemory', '0']);
    await publishing;
    expect(await store.send('XLEN', [feed.stream])).toBe(1);
  });

  it('continues without a gap if the store loses everything and a relay remembers the feed', async () => {
    const server = await startServer();
    const admin = await server.connect();
    for (const way of ['on the same connection', 'on another connection']) {
      await admin.send('FLUSHALL', []);
      const memory: RelayMemory = { token: '', state: undefined };
      const first = await lead(await server.connect(), { memory });
      const at = Date.now();
      await first.publish([post('a', at), post('b', at + 1)]);
      await first.save('{"mark":1}', at);
      const lose = async () => {
        await admin.send('FLUSHALL', []);
        await until(() => first.over.aborted);
      };
      const restore = async () => {
        const next = await lead(await server.connect(), { memory });
        expect([next.restored, next.mark]).toEqual([true, '{"mark":1}']);
        await next.publish([post('b', at + 1), post('c', at + 2)]);
      };
      if (way === 'on the same connection') {
        const { ids, others } = await collect(server, { kind: 'newest', rows: 10 }, 3, async () => {
          await lose();
          await restore();
        });
        expect([ids, others.map(({ kind }) => kind).filter((kind) => kind === 'gap')]).toEqual([
          ['a', 'b', 'c'],
          [],
        ]);
        continue;
      }
      const { position } = await collect(server, { kind: 'newest', rows: 10 }, 2);
      if (position === undefined) throw new Error('no position');
      await lose();
      const waiting = collect(server, { kind: 'position', position }, 1, restore);
      expect(await waiting).toMatchObject({
        ids: ['c'],
        others: [{ kind: 'lost' }, { kind: 'live' }, { kind: 'found' }],
      });
    }
  });

  it('reports posts that were deleted before they were read, also on a standing connection', async () => {
    const server = await startServer();
    const store = await server.connect();
    const leader = await lead(store);
    await leader.publish([post('a', 1)]);
    let isCut = false;
    const open = async () => {
      const own = await server.connect({ commandMs: 500 });
      return {
        ...own,
        // Between two reads of the follower, posts arrive and all but the last one are trimmed.
        async send(name: string, ...rest: readonly [readonly RedisArgument[], number?]) {
          if (name === 'XREAD' && !isCut && String(rest[0].at(-1)) !== '0-0') {
            isCut = true;
            await leader.publish([post('b', 2), post('c', 3)]);
            await store.send('XTRIM', [feed.stream, 'MAXLEN', 1]);
          }
          return own.send(name, ...rest);
        },
      };
    };
    const done = new AbortController();
    const events: FollowEvent[] = [];
    const clock = systemClock;
    const follower = new Follower({ open, feed, begin: { kind: 'now' }, clock, blockMs: 50 });
    for await (const event of follower.events(done.signal)) {
      if (event.kind !== 'live' && event.kind !== 'begun') events.push(event);
      if (event.kind === 'rows') done.abort();
    }
    expect(events).toMatchObject([
      { kind: 'gap', from: { id: 'a' }, to: { id: 'c' } },
      { kind: 'rows', rows: [{ id: 'c' }] },
    ]);
  });

  it('reports no gap if only posts that were read are deleted, as in a quiet feed', async () => {
    const server = await startServer();
    const store = await server.connect();
    const leader = await lead(store);
    await leader.publish([post('a', 1)]);
    const { ids, others } = await collect(server, { kind: 'newest', rows: 10 }, 2, async () => {
      await leader.publish([post('b', 2)]);
      await store.send('XTRIM', [feed.stream, 'MAXLEN', 1]);
    });
    expect([ids, others]).toEqual([['a', 'b'], [{ kind: 'live' }]]);
  });

  it.each([
    ['the clock of the new server is behind', 60_000],
    ['a relay publishes posts of the last hour again', 3_600_000],
  ])('delivers every post once after a loss if %s', async (_, ms) => {
    const server = await startServer();
    const admin = await server.connect();
    const leader = await lead(await server.connect());
    const now = Date.now();
    await leader.publish([post('a', now - ms), post('b', now)]);
    const { position } = await collect(server, { kind: 'newest', rows: 10 }, 2);
    if (position === undefined) throw new Error('no position');
    await admin.send('FLUSHALL', []);
    // As if the server had another clock, or a relay remembered a state from before these posts.
    const entries = [
      ['older', now - ms - 1, 'oldest'],
      ['a', now - ms, 'older'],
      ['b', now, 'a'],
      ['c', now + 1, 'b'],
    ] as const;
    for (const [at, [id, time, prev]] of entries.slice(ms > 600_000 ? 0 : 1).entries()) {
      const fields = ['id', id, 'at', time, 'body', JSON.stringify({ id }), 'prev', prev];
      await admin.send('XADD', [feed.stream, `${now - 60_000}-${at}`, ...fields]);
    }
    // Only the last post is remembered, as if many others had been read since.
    const old = { ...position, known: position.known.filter(([id]) => ms < 600_000 || id === 'b') };
    const { ids, others } = await collect(server, { kind: 'position', position: old }, 1);
    expect([ids, others.filter(({ kind }) => kind === 'gap')]).toEqual([['c'], []]);
  });

  it('delivers every post once to a file, however often the server loses entries that a new leader publishes again', async () => {
    const server = await startServer();
    const store = await server.connect();
    const { next, int } = rngOf(SEED);
    // A post is later than the first entry, however slow the machine is: so none can have been missed before the stream began.
    const now = Date.now() + 60_000;
    const shuffle = (ids: readonly string[]) =>
      ids
        .map((id) => [next(), id] as const)
        .sort(([one], [other]) => one - other)
        .map(([, id]) => id);
    const timeOf = (id: string) => now + Number(id.slice(1));
    const add = async (ids: readonly string[]) => {
      for (const id of ids)
        await store.send('XADD', [feed.stream, '*', ...fieldsOf(id, timeOf(id))]);
    };
    let posted = 0;
    let file: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const fresh = Array.from({ length: 1 + int(30) }, () => `p${posted++}`);
      await add(fresh);
      const entries = await firstEntries(store);
      const last = await lastIds(store, int(12));
      // The follower reads all entries, or is killed before.
      if (round === 0 || next() < 0.5) {
        const begin: Begin =
          file.length === 0 ? { kind: 'newest', rows: 999 } : afterFile(file, timeOf);
        file = [...file, ...(await collect(server, begin, 0)).ids];
      }
      if (last.length > 0)
        await store.send('XDEL', [feed.stream, ...entries.slice(-last.length).map(String)]);
      const later = Array.from({ length: int(10) }, () => `p${posted++}`);
      await add(shuffle([...last, ...later]));
      const { ids, others } = await collect(server, afterFile(file, timeOf), 0);
      file = [...file, ...ids];
      const wanted = Array.from({ length: posted }, (_, at) => `p${at}`);
      const missing = wanted.filter((id) => !file.includes(id));
      const repeated = file.filter((id, at) => file.indexOf(id) !== at);
      expect({ missing, repeated, others }, `seed ${SEED}, round ${round}`).toEqual({
        ...{ missing: [], repeated: [], others: [{ kind: 'live' }] },
      });
    }
  });

  it('repeats no older posts if the store lost all posts that are known to be delivered', async () => {
    const server = await startServer();
    const store = await server.connect();
    const now = Date.now();
    await (await lead(store)).publish(['a', 'b', 'c', 'd'].map((id, at) => post(id, now + at)));
    const gone = (at: number) => afterAll([['gone', now + at]]);
    expect((await collect(server, gone(1.5), 0)).ids).toEqual(['c', 'd']);
    expect((await collect(server, gone(9), 0)).ids).toEqual([]);
  });

  it('skips entries that are not posts', async () => {
    const server = await startServer();
    const store = await server.connect();
    for (const body of ['{"a":1}\n{}', 'text', '{broken', '[]']) {
      await store.send('XADD', [feed.stream, '*', 'id', 'x', 'at', '1', 'body', body]);
    }
    await store.send('XADD', [feed.stream, '*', 'other', 'field']);
    await (await lead(store)).publish([post('real')]);
    expect((await collect(server, { kind: 'newest', rows: 10 }, 1)).ids).toEqual(['real']);
  });
});

const fieldsOf = (id: string, at: number) => [
  ...['id', id, 'at', String(at), 'body', JSON.stringify({ id })],
];

/** A start after these posts, which were all delivered. */
const afterAll = (delivered: readonly (readonly [id: string, at: number])[]): Begin => ({
  kind: 'since',
  ms: Math.min(...delivered.map(([, each]) => each)),
  posts: delivered,
});

/** A start after the last line of a file, of which the last 60 lines are known. They contain the last 30 ms of posts. */
function afterFile(file: readonly string[], timeOf: (id: string) => number): Begin {
  const known = file.slice(-60).map((id) => [id, timeOf(id)] as const);
  const ms = Math.max(...known.map(([, at]) => at)) - 30;
  return file.length <= 60 ? afterAll(known) : { kind: 'since', ms, posts: known };
}

const lastIds = async (store: StoreConnection, count: number): Promise<string[]> =>
  count === 0
    ? []
    : readEntries(await store.send('XREVRANGE', [feed.stream, '+', '-', 'COUNT', count]))
        .map(({ id }) => id)
        .reverse();

async function firstEntries(store: StoreConnection): Promise<unknown[]> {
  const answer = await store.send('XRANGE', [feed.stream, '-', '+']);
  return Array.isArray(answer)
    ? answer.map((row: unknown) => (Array.isArray(row) ? row[0] : undefined))
    : [];
}
