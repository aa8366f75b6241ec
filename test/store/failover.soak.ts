import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { StoreConnection } from '../../src/store/connection.ts';
import { Follower } from '../../src/store/feed/follower.ts';
import { until } from '../e2e/feed.ts';
import { has } from '../tools.ts';
import { type StoreServer, startServer } from './server.ts';
import { feed, lead, posts } from './terms.ts';

/** Two servers; the second one replicates the first. */
async function pair() {
  const [one, two] = [await startServer(), await startServer()];
  const [first, second] = [await one.connect(), await two.connect()];
  const follow = async (replica: StoreConnection, of: StoreServer, length: number) => {
    await replica.send('REPLICAOF', ['127.0.0.1', of.port]);
    await until(async () => (await replica.send('XLEN', [feed.stream])) === length);
  };
  return { one, two, first, second, follow };
}

describe.skipIf(!has('redis-server'))('after a failover', () => {
  it('a term ends on the server that is no longer the master, and followers repeat nothing', async () => {
    const { one, two, first, second, follow } = await pair();
    const old = await lead(await one.connect());
    await old.publish(posts('a', 'b'));
    await follow(second, one, 2);
    // There are two masters for a while. The writes that the old master still accepts are lost.
    await second.send('REPLICAOF', ['NO', 'ONE']);
    let current = one;
    const got: string[] = [];
    const done = new AbortController();
    const follower = new Follower({
      ...{ open: () => current.connect({ commandMs: 500 }), feed, clock: systemClock, blockMs: 50 },
      begin: { kind: 'newest', rows: 10 },
    });
    const reading = (async () => {
      for await (const event of follower.events(done.signal)) {
        if (event.kind === 'rows') got.push(...event.rows.map(({ id }) => id));
      }
    })();
    await old.publish(posts('only there', 'c'));
    await until(() => got.includes('c'));
    await second.send('DEL', [feed.lease]);
    const next = await lead(await two.connect());
    await next.publish(posts('c', 'd'));
    current = two;
    await first.send('REPLICAOF', ['127.0.0.1', two.port]);
    await expect(old.publish(posts('e'))).rejects.toMatchObject({ code: 'STORE_AWAY' });
    expect(old.over.aborted).toBe(true);
    await one.kill();
    await next.publish(posts('e'));
    await until(() => got.includes('e'));
    expect(got).toEqual(['a', 'b', 'only there', 'c', 'd', 'e']);
    done.abort();
    await reading;
  });

  it('a replica is not used as a store', async () => {
    const { one, two, second, first, follow } = await pair();
    await (await lead(first)).publish(posts('a'));
    await follow(second, one, 1);
    await expect(two.connect()).rejects.toMatchObject({ code: 'STORE_AWAY' });
  });
});
