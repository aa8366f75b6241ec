import { afterEach, describe, expect, it, test } from 'vitest';
import type { HttpRequest, Transport } from '../../../src/contract/ports/transport.ts';
import { createTransport } from '../../../src/core/http/transport.ts';
import { failureOf } from '../fakes.ts';
import { serve, serveRaw } from '../server.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
const keep = <T extends { close(): Promise<void> }>(thing: T): T => {
  cleanups.push(() => thing.close());
  return thing;
};
const open = (
  options: Parameters<typeof createTransport>[1] = {},
  env: Parameters<typeof createTransport>[0] = {},
): Transport => keep(createTransport(env, options));
const get = (url: string, rest: Partial<HttpRequest> = {}): HttpRequest => ({
  method: 'GET',
  url,
  headers: {},
  timeoutMs: 10_000,
  ...rest,
});

describe('a request', () => {
  it('reuses its connection, and opens no more than allowed', async () => {
    const ports = new Set<number | undefined>();
    const server = keep(
      await serve((request, response) => {
        ports.add(request.socket.remotePort);
        response.end('ok');
      }),
    );
    const transport = open({ connections: 2 });
    for (let i = 0; i < 3; i++) await transport.send(get(server.url));
    expect(ports.size).toBe(1);
    await Promise.all(Array.from({ length: 20 }, () => transport.send(get(server.url))));
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  it('uses a new connection if the server closed the last one together with its response', async () => {
    const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
    const server = keep(await serveRaw((socket) => socket.on('data', () => socket.end(answer))));
    const transport = open();
    for (let i = 0; i < 5; i++) expect((await transport.send(get(server.url))).text).toBe('ok');
  });

  it('uses a new connection if requested, and the earlier one for the next request', async () => {
    const ports: (number | undefined)[] = [];
    const server = keep(
      await serve((request, response) => {
        ports.push(request.socket.remotePort);
        response.end('ok');
      }),
    );
    const transport = open();
    for (const isFresh of [false, true, false]) await transport.send(get(server.url, { isFresh }));
    expect(ports[1]).not.toBe(ports[0]);
    expect(ports[2]).toBe(ports[0]);
  });

  it('accepts long headers', async () => {
    const long = 'x'.repeat(100_000);
    const server = keep(await serve((_, response) => response.setHeader('x-long', long).end('ok')));
    expect((await open().send(get(server.url))).headers['x-long']).toBe(long);
  });
});

describe('a request that fails', () => {
  it.each([
    ['shorter than its content-length', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"half":'],
    [
      'shorter than it on a closing connection',
      'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 100\r\n\r\n{"half":',
    ],
    ['cut inside a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n40\r\n{"half":'],
  ])('is BROKEN if the response is %s', async (_, text) => {
    const server = keep(await serveRaw((socket) => socket.once('data', () => socket.end(text))));
    const failure = await failureOf(open().send(get(server.url)));
    expect(failure).toMatchObject({ kind: 'network', code: 'BROKEN' });
  });

  it.each([
    ['without its last chunk', 'transfer-encoding: chunked\r\n\r\na\r\n{"id":"x"}\r\n', true],
    ['with a content-length that is too large', 'content-length: 100\r\n\r\n{"id":"x"}', true],
    ['with the same, on an open connection', 'content-length: 99\r\n\r\n{"id":"x"}', false],
  ])('returns a complete record %s, because it may have been charged', async (_, rest, ends) => {
    const text = `HTTP/1.1 200 OK\r\n${rest}`;
    const server = keep(
      await serveRaw((socket) =>
        socket.once('data', () => (ends ? socket.end(text) : socket.write(text))),
      ),
    );
    const answer = await open().send(get(server.url, { timeoutMs: ends ? 10_000 : 1_000 }));
    expect([answer.status, answer.text]).toEqual([200, '{"id":"x"}']);
  });

  it('is not retried if the response is not HTTP, because a retry may be charged', async () => {
    const server = keep(
      await serveRaw((socket) => socket.once('data', () => socket.end('SSH-2.0-nonsense\r\n'))),
    );
    const failure = await failureOf(open().send(get(server.url)));
    expect(failure).toMatchObject({ kind: 'answer', code: 'BAD_ANSWER', retryable: false });
  });

  it('fails if the response exceeds the maximum size', async () => {
    const server = keep(await serve((_, response) => response.end('x'.repeat(2000))));
    const failure = await failureOf(open({ maxBytes: 1000 }).send(get(server.url)));
    expect(failure).toMatchObject({ kind: 'answer', code: 'BAD_ANSWER' });
  });
});

test('a proxy receives a password with an invalid percent sign unchanged', async () => {
  const login: (string | undefined)[] = [];
  const proxy = keep(
    await serve((request, response) => {
      login.push(request.headers['proxy-authorization']);
      response.end('by proxy');
    }),
  );
  const env = { http_proxy: proxy.url.replace('//', '//me:50%zz@') };
  await open({}, env).send(get('http://service.test/v2/me'));
  expect(login).toEqual([`Basic ${Buffer.from('me:50%zz').toString('base64')}`]);
});
