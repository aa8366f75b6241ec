import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { StoreConnection } from '../../src/store/connection.ts';
import { createFollower } from '../../src/store/feed/follower.ts';
import { openTerm, type RelayTerm } from '../../src/store/feed/leader-term.ts';
import { keysOf } from '../../src/store/keys.ts';
import { script } from '../../src/store/script.ts';
import { publish } from '../../src/store/scripts/feed.ts';
import { lead } from '../../src/store/scripts/lease.ts';
import { hasServer } from './program.ts';
import { type StoreServer, startServer, until } from './server.ts';

const feed = keysOf({ baseUrl: 'https://api.example.test', key: 'k' }).feed('thesis');
const posts = (...ids: readonly string[]) =>
  ids.map((id) => ({ id, at: Date.now(), body: JSON.stringify({ id }) }));

async function term(store: StoreConnection): Promise<RelayTerm> {
  const options = { store, feed, clock: systemClock, keepMs: 3_600_000, keepRows: 100_000 };
  const opened = await openTerm({ ...options, describe: () => ({}) });
  if ('leftMs' in opened) throw new Error('another one leads');
  return opened;
}

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

describe.skipIf(!hasServer())('after a failover', () => {
  it('a term ends on the server that is no longer the master, and followers repeat nothing', async () => {
    const { one, two, first, second, follow } = await pair();
    const old = await term(await one.connect());
    await old.publish(posts('a', 'b'));
    await follow(second, one, 2);
    // There are two masters for a while. The writes that the old master still accepts are lost.
    await second.send('REPLICAOF', ['NO', 'ONE']);
    let current = one;
    const got: string[] = [];
    const done = new AbortController();
    const follower = createFollower({
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
    const next = await term(await two.connect());
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
    await (await term(first)).publish(posts('a'));
    await follow(second, one, 1);
    await expect(two.connect()).rejects.toMatchObject({ code: 'STORE_AWAY' });
  });
});

/** Each mutant is a script without one safeguard. Its test shows what the real script prevents. */
describe.skipIf(!hasServer())('scripts with an omission', () => {
  const without = (name: string, text: string, part: string, instead: string) => {
    expect(text).toContain(part);
    return script(name, text.replace(/^[\s\S]*?\n\n/, '').replace(part, instead));
  };
  const put = (store: StoreConnection, how: typeof publish, token: string) =>
    store.run(
      how,
      [feed.lease, feed.stream, feed.mark, feed.info],
      [token, '', '', '', 1_000, 10, 'x', 1, '{}'],
    );
  const tokenOf = (answer: unknown) => (Array.isArray(answer) ? String(answer[0]) : '');

  it('publish without comparing the token lets a replaced leader write', async () => {
    const store = await (await startServer()).connect();
    const body = publish.text.slice(publish.text.indexOf("if redis.call('GET'"));
    const mutant = without('publish', body, "if redis.call('GET', KEYS[1]) ~= ARGV[1] then", 'if false then');
    await store.send('SET', [feed.lease, '2:other']);
    expect(await put(store, publish, '1:mine')).toEqual(['fenced']);
    expect(await put(store, mutant, '1:mine')).toMatchObject({ 0: 'ok' });
    store.close();
  });

  it('an epoch without a nonce is issued by two servers', async () => {
    const [one, two] = [await (await startServer()).connect(), await (await startServer()).connect()];
    const body = lead.text.slice(lead.text.indexOf('local left'));
    const mutant = without('lead', body, ".. ':' .. ARGV[1]", ".. ''");
    const tokens = async (how: typeof lead) => {
      await one.send('FLUSHALL', []);
      await two.send('FLUSHALL', []);
      const keys = [feed.lease, feed.epoch, feed.info];
      return [
        tokenOf(await one.run(how, keys, ['n1', 9_000])),
        tokenOf(await two.run(how, keys, ['n2', 9_000])),
      ];
    };
    expect(new Set(await tokens(lead)).size).toBe(2);
    expect(new Set(await tokens(mutant)).size).toBe(1);
    one.close();
    two.close();
  });
});
