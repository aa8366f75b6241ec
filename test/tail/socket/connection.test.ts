import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server as NetServer,
  type Socket,
} from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { Failure } from '../../../src/base/failure.ts';
import type { Link } from '../../../src/tail/ports.ts';
import { createConnect, type SocketOptions } from '../../../src/tail/socket/connection.ts';

const cleanup: (() => void)[] = [];
afterEach(() => {
  for (const clean of cleanup.splice(0)) clean();
});

const listen = async (server: NetServer): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return `ws://127.0.0.1:${port}/v2/ws`;
};

/** A service that hands its connections to the test. */
async function serve() {
  const http = createServer();
  const sockets = new WebSocketServer({ server: http });
  const url = await listen(http);
  cleanup.push(() => {
    for (const peer of sockets.clients) peer.terminate();
    sockets.close();
    http.close();
  });
  const next = async (): Promise<WebSocket> => (await once(sockets, 'connection'))[0];
  return { url, next };
}

/** Opens a link; `until` waits for a condition that is checked after each event. */
async function open(url: string, extra: Partial<SocketOptions> = {}) {
  let wake = () => {};
  const connect = createConnect({
    url,
    key: 'key_test_1',
    userAgent: 'test',
    env: {},
    now: Date.now,
    ...extra,
  });
  const link = await connect(() => wake(), new AbortController().signal);
  cleanup.push(() => void link.close());
  const until = async (done: () => boolean) => {
    while (!done()) {
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (done()) resolve();
      });
    }
  };
  return { link, until };
}

const textsOf = (link: Link): string[] => {
  const texts: string[] = [];
  for (let raw = link.next(); raw; raw = link.next()) texts.push(Buffer.from(raw).toString());
  return texts;
};

describe('a connection', () => {
  test('replaces invalid UTF-8 in binary frames', async () => {
    const { url, next } = await serve();
    const [{ link, until }, peer] = await Promise.all([open(url), next()]);
    peer.send(Buffer.from([0x7b, 0xff, 0x7d]), { binary: true });
    await until(() => link.held > 0);
    expect(Buffer.from(link.next() ?? []).toString('hex')).toBe('7befbfbd7d');
  });

  test('answers pings, and counts them as received data', async () => {
    const service = await serve();
    const [{ link, until }, peer] = await Promise.all([open(service.url), service.next()]);
    const pong = new Promise((resolve) => peer.once('pong', resolve));
    peer.ping();
    await pong;
    await until(() => link.signs > 0);
  });

  test.each([
    [1008, 'quota'],
    [1000, 'closed'],
    [1001, 'closed'],
    [1011, 'closed'],
  ])('keeps its frames when the service closes it with %d; the end is %s', async (code, why) => {
    const service = await serve();
    const [{ link, until }, peer] = await Promise.all([open(service.url), service.next()]);
    peer.send('last words');
    peer.close(code, 'because');
    await until(() => link.end !== undefined);
    expect(link.end).toMatchObject({ why, text: `${code} because` });
    expect(textsOf(link)).toEqual(['last words']);
  });

  test('is closed when its queue is full, and keeps the queued frames', async () => {
    const service = await serve();
    // The grace period for a slow reader ends immediately.
    const clock = { sleep: async () => {} };
    const [{ link, until }, peer] = await Promise.all([
      open(service.url, { maxHeld: 50_000, clock }),
      service.next(),
    ]);
    const frame = 'x'.repeat(1_000);
    for (let i = 0; i < 100; i++) peer.send(frame);
    await until(() => link.end !== undefined);
    expect(link.end?.why).toBe('overflow');
    expect(link.held).toBeLessThan(60_000);
    expect(textsOf(link).length).toBeGreaterThan(20);
  });

  test('reports that the service received its close frame', async () => {
    const service = await serve();
    const [{ link }, peer] = await Promise.all([open(service.url), service.next()]);
    const closed = new Promise((resolve) => peer.once('close', resolve));
    expect(await link.close()).toBe(true);
    expect(await closed).toBe(1000);
  });
});

describe('a handshake', () => {
  const rejecting = async (status: number, code: string) => {
    const http = createServer();
    http.on('upgrade', (_, socket) => {
      const text = JSON.stringify({ error: { code, message: 'No.' }, retryAfter: 17 });
      socket.end(
        `HTTP/1.1 ${status} No\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
      );
    });
    const url = await listen(http);
    cleanup.push(() => http.close());
    return url;
  };

  test.each([
    [402, 'QUOTA_EXCEEDED', 'quota'],
    [429, 'RATE_LIMITED', 'rate'],
    [503, 'OVERLOADED', 'service'],
  ])(
    'rejected with %d %s fails as %s, and includes the time to wait',
    async (status, code, kind) => {
      const url = await rejecting(status, code);
      await expect(open(url)).rejects.toMatchObject({ kind, code, status, retryAfter: 17 });
    },
  );

  test('does not follow redirects', async () => {
    const http = createServer();
    http.on('upgrade', (_, socket) => {
      socket.end('HTTP/1.1 302 Found\r\nlocation: ws://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n');
    });
    const url = await listen(http);
    cleanup.push(() => http.close());
    await expect(open(url)).rejects.toMatchObject({ name: 'Failure', status: 302 });
  });

  test('without a response ends with the signal, and removes its listener', async () => {
    const accepted: Socket[] = [];
    const silent = createTcpServer((socket) => accepted.push(socket));
    const url = await listen(silent);
    cleanup.push(() => {
      for (const socket of accepted) socket.destroy();
      silent.close();
    });
    const controller = new AbortController();
    const connect = createConnect({ url, key: 'k', userAgent: 'test', env: {}, now: Date.now });
    const attempt = connect(() => {}, controller.signal);
    silent.once('connection', () =>
      controller.abort(new Failure('local', 'stop', { code: 'STOP' })),
    );
    await expect(attempt).rejects.toBeInstanceOf(Failure);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});
