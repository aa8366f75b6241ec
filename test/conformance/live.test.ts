import { describe, expect, it } from 'vitest';
import { ServerFrame } from '../../src/contract/frames.ts';
import {
  ask,
  askWith,
  bearer,
  connect,
  type Listener,
  listen,
  MINUTE,
  NOON,
  rejectedHandshake,
  sandbox,
  until,
} from './help.ts';

const all = { type: 'all' };
const tokens = (...names: string[]) => ({ type: 'tokens', tokens: names });
const subscribe = (subscription: unknown) => ({ type: 'subscribe', subscription });
const typesOf = (frames: { type: string }[]) => frames.map(({ type }) => type);

async function talk(socket: Listener, frame: unknown) {
  socket.send(frame);
  return socket.drain();
}

describe('the handshake', () => {
  it('is rejected with plain HTTP and the documented body, before the upgrade', async () => {
    const service = await sandbox();
    const below = (['explore', 'starter', 'builder'] as const).map((plan) =>
      service.addKey({ plan }),
    );
    const poor = service.addKey({ monthlyUnits: 19_999 });
    const empty = service.addKey({ monthlyUnits: 0 });
    const cases = [
      [{}, 401, 'UNAUTHORIZED'],
      [bearer('wrong'), 401, 'UNAUTHORIZED'],
      ...below.map((key) => [bearer(key), 403, 'FORBIDDEN_SCOPE'] as const),
      [{ 'x-api-key': service.key }, 401, 'UNAUTHORIZED'],
      [bearer(empty), 403, 'FREE_TIER_DISABLED'],
      [bearer(poor), 402, 'QUOTA_EXCEEDED'],
    ] as const;
    for (const [headers, status, code] of cases) {
      const refused = await rejectedHandshake(service, headers);
      expect(refused).toEqual({ status, body: { error: { code, message: expect.any(String) } } });
    }
    for (const [path, status] of [
      ['/v2/thesis', 404],
      ['/v2/ws?all=1', 400],
    ] as const)
      expect((await rejectedHandshake(service, bearer(service.key), path)).status).toBe(status);
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket' };
    const incomplete = await askWith(service, '/v2/ws', { ...bearer(service.key), ...upgrade });
    expect(incomplete).toMatchObject({ status: 400, body: { error: { code: 'BAD_REQUEST' } } });
    expect(service.meter().totalUnits).toBe(0);
  });
});

describe('a connection', () => {
  it('starts with ready and a unique connection id, and receives nothing until it subscribes', async () => {
    const service = await sandbox();
    const sockets = [await connect(service), await connect(service)];
    const frames = await Promise.all(sockets.map((socket) => socket.next()));
    for (const frame of frames)
      expect(frame).toEqual({ type: 'ready', connectionId: expect.any(String) });
    expect(frames[0].connectionId).not.toBe(frames[1].connectionId);
    service.post();
    expect(await Promise.all(sockets.map((socket) => socket.drain()))).toEqual([[], []]);
  });

  it('receives every post after subscribing to all, as in the pages plus two fields', async () => {
    const service = await sandbox();
    const socket = await listen(service);
    expect(await socket.subscribe()).toEqual({ type: 'subscription', subscription: all });
    const posts = [];
    for (let number = 0; number < 5; number++) {
      await service.advance(100);
      posts.push(service.post());
    }
    const frames = await socket.drain();
    expect(frames.map(({ data }) => data)).toEqual(posts);
    const { body } = await ask(service, '/v2/thesis?limit=5');
    for (const frame of frames) {
      expect(() => ServerFrame.parse(frame)).not.toThrow();
      const { authorAvatarUrl, tokenImageUrl, ...item } = frame.data;
      expect([authorAvatarUrl, tokenImageUrl]).not.toContain(undefined);
      expect(body.items).toContainEqual(item);
    }
  });

  it('receives only the posts of its tokens, EVM in any case but in the subscription', async () => {
    const service = await sandbox();
    const socket = await listen(service);
    const token = '0xABCDEF0000000000000000000000000000000001';
    const post = (id: string, tokenAddress: string | null) =>
      service.post({ id, tokenAddress, authorHandle: null, thesis: null, platformCreatedAt: NOON });
    const typed = await listen(service);
    await typed.subscribe(token);
    await socket.subscribe(token.toLowerCase(), 'So11111111111111111111111111111111111111112');
    post('one', token);
    post('two', '0x0000000000000000000000000000000000000009');
    post('three', 'So11111111111111111111111111111111111111112');
    post('four', 'so11111111111111111111111111111111111111112');
    post('five', null);
    expect((await socket.drain()).map(({ data }) => data.id)).toEqual(['one', 'three']);
    expect(await typed.drain()).toEqual([]);
  });

  it('has one subscription; a new one replaces it, after a replaced frame', async () => {
    const service = await sandbox();
    const socket = await listen(service);
    await socket.subscribe();
    const next = tokens('So11111111111111111111111111111111111111112');
    expect(await talk(socket, subscribe(next))).toEqual([
      { type: 'replaced', previous: all },
      { type: 'subscription', subscription: next },
    ]);
    service.post({
      id: 'other',
      tokenAddress: '0x01',
      authorHandle: null,
      thesis: null,
      platformCreatedAt: NOON,
    });
    expect(await socket.drain()).toEqual([]);
    expect(await talk(socket, subscribe(all))).toEqual([
      { type: 'replaced', previous: next },
      { type: 'subscription', subscription: all },
    ]);
  });

  it('confirms unsubscribe with a null subscription, and receives no more', async () => {
    const service = await sandbox();
    const socket = await listen(service);
    await socket.subscribe();
    expect(await talk(socket, { type: 'unsubscribe' })).toEqual([
      { type: 'subscription', subscription: null },
    ]);
    service.post();
    expect(await socket.drain()).toEqual([]);
    expect(typesOf(await talk(socket, subscribe(all)))).toEqual(['subscription']);
  });

  it('accepts 50 addresses, and rejects 51 with both numbers', async () => {
    const service = await sandbox();
    const socket = await listen(service);
    const names = Array.from({ length: 51 }, (_, at) => `token${at}`);
    expect(typesOf(await talk(socket, subscribe(tokens(...names.slice(1)))))).toEqual([
      'subscription',
    ]);
    socket.send(subscribe(tokens(...names)));
    const frame = await socket.next();
    expect(frame).toEqual({ type: 'error', error: expect.stringMatching(/51.*50/) });
    expect(await socket.drain()).toEqual([]);
  });

  it('replays nothing, loses its subscription when it closes, and never receives a thesis twice', async () => {
    const service = await sandbox();
    const first = await listen(service);
    await first.subscribe();
    first.ws.close();
    await first.closed;
    service.post();
    const second = await listen(service);
    service.post();
    expect(await second.drain()).toEqual([]);
    await second.subscribe();
    const post = service.post();
    service.post(post);
    expect((await second.drain()).map(({ data }) => data.id)).toEqual([post.id]);
  });
});

describe('pings', () => {
  it('come every 30 seconds and keep an answering socket open', async () => {
    const service = await sandbox();
    const socket = await listen(service);
    let pings = 0;
    socket.ws.on('ping', () => pings++);
    await service.advance(29_999);
    expect(pings).toBe(0);
    await service.advance(5 * MINUTE);
    await until(() => pings >= 10);
    expect([pings, socket.ws.readyState, service.sockets.size]).toEqual([10, socket.ws.OPEN, 1]);
  });

  it('close a socket that did not answer the previous one', async () => {
    const service = await sandbox();
    const socket = await listen(service, service.key, false);
    service.setClock(NOON + 30_000);
    expect(service.sockets.size).toBe(1);
    service.setClock(NOON + 60_000);
    expect(await socket.closed).toBe(1006);
    expect(service.sockets.size).toBe(0);
  });
});

describe('the price of a socket', () => {
  it('is 20,000 CU for each started minute, per socket', async () => {
    const service = await sandbox();
    const others = await sandbox();
    for (const _ of 'ab') await listen(others);
    await others.advance(MINUTE);
    expect(others.meter().totalUnits).toBe(80_000);
    const socket = await listen(service);
    expect(service.meter().totalUnits).toBe(20_000);
    await service.advance(MINUTE - 1);
    expect(service.meter().totalUnits).toBe(20_000);
    await service.advance(1);
    expect(service.meter().totalUnits).toBe(40_000);
    socket.ws.close();
    await socket.closed;
    await until(() => service.sockets.size === 0);
    await service.advance(10 * MINUTE);
    expect(service.meter().totalUnits).toBe(40_000);
  });

  it('closes the socket with 1008 when the units run out', async () => {
    const service = await sandbox({ monthlyUnits: 50_000 });
    const socket = await listen(service);
    await service.advance(2 * MINUTE);
    expect(await socket.closed).toBe(1008);
    expect(service.meter()).toMatchObject({ unitsUsed: 40_000, unitsRemaining: 10_000 });
    expect(service.sockets.size).toBe(0);
    expect((await rejectedHandshake(service, bearer(service.key))).status).toBe(402);
  });

  it('is counted for an unmetered key, whose socket stays open', async () => {
    const service = await sandbox({ unmetered: true, monthlyUnits: 0 });
    const socket = await listen(service);
    await service.advance(3 * MINUTE);
    expect([service.meter().totalUnits, socket.ws.readyState]).toEqual([80_000, socket.ws.OPEN]);
  });
});
