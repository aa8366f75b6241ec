import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { systemClock } from '../../../src/base/clock.ts';
import { Failure } from '../../../src/base/failure.ts';
import { socketOf } from '../../../src/cli/tail/socket.ts';
import type { Slot } from '../../../src/contract/ports/ledger.ts';
import { type KeyRenewal, ServiceKey } from '../../../src/core/client/service-key.ts';

const nothing = () => {};
const slot: Slot = { settle: nothing, lose: nothing, release: nothing };

/**
 * A live feed that accepts one key, and rejects the others as the service does. In its place, a
 * proxy rejects the first calls.
 */
async function withFeed(accepted: string, proxied = 0) {
  const asked: (string | undefined)[] = [];
  const http = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  http.on('upgrade', (request, socket, head) => {
    const { authorization } = request.headers;
    asked.push(authorization?.replace('Bearer ', ''));
    if (authorization === `Bearer ${accepted}`)
      return sockets.handleUpgrade(request, socket, head, nothing);
    const own = JSON.stringify({ error: { code: 'UNAUTHORIZED', message: 'no such key' } });
    const body = asked.length > proxied ? own : '<html>log in</html>';
    const type = 'content-type: application/json';
    socket.end(
      `HTTP/1.1 401 Unauthorized\r\n${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  });
  await new Promise<void>((ready) => http.listen(0, '127.0.0.1', ready));
  onTestFinished(() => {
    for (const peer of sockets.clients) peer.terminate();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, asked };
}

/** Connects with a key that a command can replace. Returns how the connection ended, and what was said. */
async function connectWith(url: string, print: KeyRenewal['print']) {
  const said: string[] = [];
  const serviceKey = new ServiceKey('first', {
    print,
    handOver: async () => void said.push('replaced'),
    onFailed: () => said.push('failed'),
  });
  const context = {
    terminal: { io: { env: {}, clock: systemClock } },
    settings: { insecureHttp: false },
  };
  const client = { reserveMinute: async () => slot };
  const connect = socketOf(context as never, client as never, {
    baseUrl: url,
    key: serviceKey,
    embedded: false,
  });
  const connected = async () => {
    const link = await connect(nothing, new AbortController().signal);
    link.close();
    return 'connected';
  };
  return { said, connected, serviceKey };
}

describe('the live feed', () => {
  test('is opened with the key that the command prints after the first was rejected', async () => {
    const feed = await withFeed('second');
    const { said, connected } = await connectWith(feed.url, async () => 'second');
    expect(await connected()).toBe('connected');
    expect([feed.asked, said]).toEqual([['first', 'second'], ['replaced']]);
    // A later connection begins with the key that was accepted.
    expect(await connected()).toBe('connected');
    expect([feed.asked.at(-1), said]).toEqual(['second', ['replaced']]);
  });

  test('is opened with the key that another call has replaced in the meantime', async () => {
    const feed = await withFeed('second');
    let runs = 0;
    const print = async () => {
      runs++;
      return 'second';
    };
    const { connected, serviceKey } = await connectWith(feed.url, print);
    const [end] = await Promise.all([connected(), serviceKey.replace('first', true)]);
    expect([end, runs]).toEqual(['connected', 1]);
  });

  test('is opened with another key, although a proxy rejected the first one earlier', async () => {
    const feed = await withFeed('second', 2);
    const printed = ['first', 'second'];
    const { said, connected } = await connectWith(feed.url, async () => printed.shift());
    for (const isProxied of [true, true, false]) {
      const end = await connected().catch((error: unknown) => error);
      expect(end).toEqual(isProxied ? expect.objectContaining({ code: 'HTTP_401' }) : 'connected');
    }
    expect([feed.asked, said]).toEqual([['first', 'first', 'first', 'second'], ['replaced']]);
  });

  test.each([
    ['the same key', async () => 'first', ['first'], []],
    ['a key that is rejected too', async () => 'third', ['first', 'third'], ['replaced']],
    ['no key', () => Promise.reject(new Error('locked')), ['first'], ['failed']],
  ])('reports the rejection if the command prints %s', async (_, print, asked, notices) => {
    const feed = await withFeed('second');
    const { said, connected } = await connectWith(feed.url, print);
    const failure = await connected().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Failure);
    expect(failure).toMatchObject({ kind: 'auth', status: 401 });
    expect([feed.asked, said]).toEqual([asked, notices]);
  });
});
