import { describe, expect, it } from 'vitest';
import { readStoreUrl } from '../../src/store/address.ts';
import { keysOf } from '../../src/store/keys.ts';
import { StoreLink } from '../../src/store/link.ts';
import { until } from '../e2e/feed.ts';
import { has } from '../tools.ts';
import { type StoreServer, startServer } from './server.ts';

const keys = keysOf({ baseUrl: 'https://api.example.test', key: 'trdr_live_planted0secret' });

function linkTo(server: StoreServer, { commandMs = 2_000, db = 0 } = {}) {
  const clock = { ms: 0 };
  const link = new StoreLink(
    { ...readStoreUrl(server.url), db },
    { commandMs, connectMs: 1_000 },
    keys,
    { mono: () => clock.ms },
    () => 0,
  );
  return { link, clock };
}

it('names of keys reveal neither the API key nor the base URL', () => {
  const all = [keys.schema, keys.open, keys.lane('key').calls, keys.lane('resolve').meta];
  const names = [...all, keys.answer('user.handle', 'mira'), keys.feed('thesis').stream].join();
  expect(names).not.toMatch(/planted|example|mira/);
  const slots = new Set([...names.matchAll(/\{[0-9a-f]{24}\}/g)].map(([slot]) => slot));
  expect(slots.size).toBe(2);
});

describe.skipIf(!has('redis-server'))('a link', () => {
  it('fails at once while the store is unreachable, and tries again after five seconds', async () => {
    const server = await startServer();
    const { link, clock } = linkTo(server);
    const greeted: string[] = [];
    link.onConnect(async (store) => void greeted.push(store.server.boot));
    await link.use((store) => store.send('PING', []));
    const lost = await link.use(async (store) => store.lost);
    await server.kill();
    await until(() => lost.aborted);
    await server.start();
    await expect(link.use((store) => store.send('PING', []))).rejects.toMatchObject({
      code: 'STORE_AWAY',
    });
    clock.ms = 5_000;
    expect(await link.use((store) => store.send('PING', []))).toBe('PONG');
    expect(new Set(greeted).size).toBe(2);
  });

  it('treats a user that is rejected later as an outage, for the shared connection and for additional ones', async () => {
    const server = await startServer();
    const { link, clock } = linkTo(server);
    const first = await link.open();
    await first.send('ACL', ['SETUSER', 'default', '>changed']);
    for (const each of [() => link.open(), () => link.use(async () => 0)])
      await expect(each()).rejects.toMatchObject({
        code: 'STORE_AWAY',
        message: expect.stringContaining('requires a password'),
      });
    await first.send('ACL', ['SETUSER', 'default', 'nopass']);
    clock.ms = 5_000;
    (await link.open()).close();
    expect(await link.use(async () => 0)).toBe(0);
    link.close();
    await first.send('ACL', ['SETUSER', 'default', 'resetpass']);
    await expect(linkTo(server).link.open()).rejects.toMatchObject({ code: 'STORE_DENIED' });
  });

  it('does not use a store that a newer version has written to', async () => {
    const server = await startServer();
    const admin = await server.connect();
    await admin.send('SET', [keys.schema, 2]);
    const { link } = linkTo(server);
    await expect(link.use(async () => 0)).rejects.toMatchObject({ code: 'STORE_NEWER' });
    expect(await admin.send('DBSIZE', [])).toBe(1);
  });
});
