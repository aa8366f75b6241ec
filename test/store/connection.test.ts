import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readStoreUrl } from '../../src/store/address.ts';
import { connectStore } from '../../src/store/connection.ts';
import { cert, otherCert } from '../core/http/certificate.ts';
import { serveRaw } from '../core/server.ts';
import { has } from '../tools.ts';
import { startServer } from './server.ts';

describe('store URLs', () => {
  it.each([
    ['redis://desk@redis.internal:6380/2', 'redis://desk@redis.internal:6380/2', false],
    ['rediss://redis.internal', 'rediss://redis.internal:6379/0', true],
    ['redis://[::1]:7000', 'redis://[::1]:7000/0', false],
    ['redis://50%zz@host', 'redis://50%zz@host:6379/0', false],
  ])('%s is read', (text, shown, tls) => {
    expect(readStoreUrl(text)).toMatchObject({ shown, tls });
  });

  it('reads the path, user and database of a unix socket', () => {
    const read = readStoreUrl('unix:/run/redis.sock?db=3&user=desk');
    expect(read).toMatchObject({ path: '/run/redis.sock', db: 3, username: 'desk', tls: false });
  });

  it.each([
    ['redis://desk:hunter2@host', /contains a password/],
    ['http://host', /scheme/],
    ['host:6379', /scheme/],
    ['redis://host/x', /database/],
    ['redis://host?x=hunter2', /query/],
    ['unix:relative', /absolute/],
    ['', /not a valid URL/],
  ])('%s is rejected without being repeated', (text, why) => {
    expect(() => readStoreUrl(text)).toThrow(why);
    expect(() => readStoreUrl(text)).not.toThrow(/hunter2/);
  });

  it('an unencrypted connection beyond this machine needs storePlain', async () => {
    const address = readStoreUrl('redis://192.0.2.1:6379');
    await expect(connectStore(address, { connectMs: 1 })).rejects.toMatchObject({
      code: 'STORE_PLAIN',
    });
    const allowed = connectStore(address, { connectMs: 1, plain: true });
    await expect(allowed).rejects.toMatchObject({ code: 'STORE_AWAY' });
  });
});

describe.skipIf(!has('redis-server'))('a connection', () => {
  it('ends when the server dies, without queueing or repeating anything', async () => {
    const server = await startServer();
    const store = await server.connect();
    const pending = store.send('BLPOP', ['nothing', 0], 60_000);
    const failed = expect(pending).rejects.toMatchObject({ code: 'STORE_AWAY' });
    await server.kill();
    await failed;
    await server.start();
    expect(store.lost.aborted).toBe(true);
    await expect(store.send('GET', ['x'])).rejects.toMatchObject({ code: 'STORE_AWAY' });
  });

  it('ends if the server does not answer', async () => {
    const server = await startServer();
    const store = await server.connect({ commandMs: 50 });
    server.pause();
    await expect(store.send('GET', ['x'])).rejects.toThrow(/no answer within 0.05 s/);
    expect(store.lost.aborted).toBe(true);
    await expect(server.connect({ connectMs: 50 })).rejects.toMatchObject({ code: 'STORE_AWAY' });
    server.resume();
  });

  it('works over a unix socket', async () => {
    const server = await startServer({ conf: ['--unixsocket', 'store.sock'] });
    const store = await connectStore(
      readStoreUrl(`unix:${join(server.folder, 'store.sock')}?db=1`),
    );
    expect(await store.send('SET', ['x', 'y'])).toBe('OK');
  });

  it('verifies the certificate of a server, and names the fix if that fails', async () => {
    const server = await startServer({ tls: true });
    await expect(server.connect()).rejects.toMatchObject({
      message: expect.stringMatching(/not signed by a trusted authority|self-signed/),
      hint: { hint: expect.stringContaining('trdr config set storeCa FILE') },
    });
    await expect(server.connect({ ca: otherCert })).rejects.toThrow(
      /not signed by the authority in storeCa/,
    );
    const strict = await startServer({ tls: true, conf: ['--tls-auth-clients', 'yes'] });
    await expect(strict.connect({ ca: cert })).rejects.toMatchObject({
      hint: { hint: expect.stringContaining('tls-auth-clients') },
    });
    const unencrypted = connectStore({ ...readStoreUrl(server.url), tls: false });
    await expect(unencrypted).rejects.toMatchObject({
      hint: { hint: expect.stringContaining('write rediss://') },
    });
    const store = await server.connect({ ca: cert });
    expect(await store.send('PING', [])).toBe('PONG');
  });
});

it('a connection to a port that is not a store fails with a clear message', async () => {
  const other = await serveRaw((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  onTestFinished(() => other.close());
  const connecting = connectStore(readStoreUrl(`redis://127.0.0.1:${other.port}`));
  await expect(connecting).rejects.toMatchObject({ code: 'STORE_AWAY' });
});
