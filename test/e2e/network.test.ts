import { writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createServer as createRawTlsServer } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cert, otherCert as serviceCert, key as serviceKey } from '../core/http/certificate.ts';
import { serve } from '../core/server.ts';
import { some } from '../repeats.ts';
import { openDesk, openHome, runInProcess, trdr, withSandbox } from './harness.ts';
import { anyMe } from './service.ts';

const KEY = 'trdr_live_0123456789abcdef0123456789abcdef';

async function listen(...given: Parameters<typeof serve>) {
  const served = await serve(...given);
  onTestFinished(() => served.close());
  return served;
}

/** A server with the certificate of service.test. */
async function listenTls(listener: RequestListener): Promise<{ readonly port: number }> {
  const server = createTlsServer({ cert: serviceCert, key: serviceKey }, listener);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return { port: typeof address === 'object' && address ? address.port : 0 };
}

/** A proxy that connects every name to `target` and records requests. */
async function withProxy(target: { readonly port: number }) {
  const asked: string[] = [];
  const proxy = createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    const { pathname, search } = new URL(incoming.url ?? '');
    const onward = httpRequest(
      {
        host: '127.0.0.1',
        port: target.port,
        method: incoming.method,
        path: pathname + search,
        headers: incoming.headers,
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    incoming.pipe(onward);
  });
  proxy.on('connect', (incoming, socket, head) => {
    asked.push(`CONNECT ${incoming.url}`);
    const onward = connect(target.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.write(head);
      socket.pipe(onward).pipe(socket);
    });
    for (const end of [socket, onward]) end.on('error', () => end.destroy());
  });
  await new Promise<void>((ready) => proxy.listen(0, '127.0.0.1', ready));
  onTestFinished(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  const address = proxy.address();
  return { asked, url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}` };
}

describe('plain http', () => {
  test.each([
    'me',
    'whois mira',
    'resolve mira',
    'api /v2/me',
    'auth status --check',
    'usage --reconcile',
  ])('to another machine is rejected by %s', async (argv) => {
    const sandbox = await withSandbox();
    const proxy = await withProxy(sandbox);
    const { exitCode, error } = await runInProcess(argv, {
      key: KEY,
      env: { TRDR_BASE_URL: 'http://service.test', HTTP_PROXY: proxy.url },
    });
    expect([exitCode, error()['code']]).toEqual([2, 'INSECURE_HTTP']);
    expect([proxy.asked, sandbox.log.length]).toEqual([[], 0]);
  });

  test('is allowed with --insecure-http, and to this machine', async () => {
    const sandbox = await withSandbox();
    const proxy = await withProxy(sandbox);
    const { exitCode } = await runInProcess('me --insecure-http', {
      key: sandbox.key,
      env: { TRDR_BASE_URL: 'http://service.test', HTTP_PROXY: proxy.url },
    });
    expect([exitCode, proxy.asked]).toEqual([0, ['GET http://service.test/v2/me']]);
    for (const host of ['localhost', '127.0.0.1']) {
      const env = { TRDR_BASE_URL: `http://${host}:${sandbox.port}` };
      expect((await runInProcess('me', { key: sandbox.key, env })).exitCode).toBe(0);
    }
  });
});

describe('a redirect', () => {
  test.each([301, 307])('%i is not followed', async (status) => {
    let [asked, reached] = [0, 0];
    const elsewhere = await listen((_, response) => {
      reached++;
      response.end('{}');
    });
    for (const location of [`${elsewhere.url}/v2/me`, '/v2/other', '//localhost/v2/me']) {
      const service = await listen((_, response) => {
        asked++;
        response.writeHead(status, { location }).end();
      });
      for (const argv of ['me', 'api POST /v2/user/handle/x/resolve']) {
        asked = 0;
        const env = { TRDR_BASE_URL: service.url };
        const { exitCode, error } = await runInProcess(`${argv} --retries 1`, {
          ...{ key: KEY, env, random: () => 0 },
        });
        expect([exitCode, error()['code'], asked <= 2]).toEqual([9, 'REDIRECT', true]);
      }
    }
    expect(reached).toBe(0);
  });
});

describe('a proxy from the environment', () => {
  test('in all_proxy forwards plain requests', async () => {
    const sandbox = await withSandbox();
    const proxy = await withProxy(sandbox);
    const { exitCode, records } = await runInProcess('whois @mira --insecure-http', {
      key: sandbox.key,
      env: { TRDR_BASE_URL: 'http://service.test', all_proxy: proxy.url },
    });
    expect([exitCode, records()[0]?.['found']]).toEqual([0, true]);
    expect(proxy.asked).toContain('GET http://service.test/v2/user/handle/mira');
  });

  test('in https_proxy tunnels https', async () => {
    const home = openHome();
    const service = await listenTls((_, response) => response.end(JSON.stringify(anyMe)));
    const proxy = await withProxy(service);
    const trusted = home.write('ca.pem', serviceCert);
    const env = { TRDR_BASE_URL: 'https://service.test', https_proxy: proxy.url };
    const { exitCode, json } = await trdr('me --json', {
      home,
      key: KEY,
      env: { ...env, NODE_EXTRA_CA_CERTS: trusted },
    });
    expect([exitCode, json()]).toEqual([0, anyMe]);
    expect(proxy.asked).toEqual(['CONNECT service.test:443']);

    // A proxy that impersonates the service must not receive the key.
    const untrusted = await trdr('me', { home, key: KEY, env });
    expect([untrusted.exitCode, untrusted.error()['code']]).toEqual([9, 'UNREACHABLE']);
  });

  test('is not used for hosts in NO_PROXY or for this machine', async () => {
    const { sandbox, run } = await openDesk();
    const proxy = await withProxy(sandbox);
    const direct = await run('me', { env: { HTTP_PROXY: proxy.url, ALL_PROXY: proxy.url } });
    expect([direct.exitCode, proxy.asked]).toEqual([0, []]);
    const exempt = await runInProcess('me --insecure-http --retries 0', {
      key: KEY,
      env: { TRDR_BASE_URL: 'http://service.test', HTTP_PROXY: proxy.url, NO_PROXY: '.test' },
    });
    expect([exempt.exitCode, exempt.error()['code'], proxy.asked]).toEqual([9, 'UNREACHABLE', []]);
  });

  test('that rejects a request exits 9, and its password is never shown', async () => {
    const proxy = await listen((_, response) => response.writeHead(407).end('no'));
    const { exitCode, stderr, stdout } = await runInProcess(
      'me --insecure-http --retries 0 --debug',
      {
        key: KEY,
        env: {
          TRDR_BASE_URL: 'http://service.test',
          HTTP_PROXY: proxy.url.replace('//', '//me:s3cr3tword@'),
        },
      },
    );
    expect(exitCode).toBe(9);
    expect(stderr + stdout).not.toContain('s3cr3tword');
  });
});

describe('a certificate that is not trusted', () => {
  test('gets nothing, whatever NODE_TLS_REJECT_UNAUTHORIZED says: of a service, its socket, a proxy or a store', async () => {
    let received = '';
    const stranger = createRawTlsServer({ cert: serviceCert, key: serviceKey }, (socket) => {
      socket.on('error', () => {});
      socket.on('data', (part) => {
        received += part.toString();
      });
    });
    stranger.on('tlsClientError', () => {});
    await new Promise<void>((ready) => stranger.listen(0, '127.0.0.1', ready));
    onTestFinished(() => void stranger.close());
    const address = stranger.address();
    const at = `127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
    const ca = join(openHome().path, 'ca.crt');
    writeFileSync(ca, cert);
    const store = { TRDR_STORE: `rediss://desk@${at}`, TRDR_STORE_PASSWORD: 'hunter2' };
    const tail = ['thesis', 'tail', '--duration', '1s', '--yes', '--via'];
    const sandbox = await withSandbox();
    const cases: readonly (readonly [string[], Record<string, string>])[] = [
      [['whois', 'mira', '--retries', '0'], { TRDR_BASE_URL: `https://${at}` }],
      [[...tail, 'ws'], { TRDR_BASE_URL: `https://${at}` }],
      [
        ['whois', 'mira', '--retries', '0'],
        { TRDR_BASE_URL: 'https://service.test', HTTPS_PROXY: `https://${at}` },
      ],
      [[...tail, 'ws'], { TRDR_BASE_URL: 'https://service.test', HTTPS_PROXY: `https://${at}` }],
      [['store', 'status'], { TRDR_BASE_URL: sandbox.url, ...store }],
      [['store', 'status'], { TRDR_BASE_URL: sandbox.url, ...store, TRDR_STORE_CA: ca }],
    ];
    for (const [args, env] of some(cases, 3)) {
      const ran = await trdr(args, {
        key: KEY,
        env: { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' },
      });
      expect([args, ran.exitCode], ran.stderr).toEqual([args, 9]);
    }
    expect(received).toBe('');
  });
});
