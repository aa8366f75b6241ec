import { type AddressInfo, createServer, type Server } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hintOf } from '../../../src/base/failure.ts';
import { tlsFailure } from '../../../src/base/tls-failure.ts';
import { createTransport } from '../../../src/core/http/transport.ts';
import { readStoreUrl } from '../../../src/store/address.ts';
import { connectStore } from '../../../src/store/connection.ts';
import { failureOf } from '../fakes.ts';
import { cert, expiredCert, futureCert, key, otherCert } from './certificate.ts';

async function listen(server: Server): Promise<number> {
  onTestFinished(() => void server.close());
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return (server.address() as AddressInfo).port;
}

const tls = (own: string, options: TlsOptions = {}) =>
  createTlsServer({ key, cert: own, ...options }).on('tlsClientError', () => {});

/** A server that reads the start of the handshake and answers with these bytes. */
const answering = (bytes: string | Uint8Array) =>
  createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(bytes));
  });

const alert = (description: number) => new Uint8Array([0x15, 3, 3, 0, 2, 2, description]);

const old = 'TLSv1.1' as const;
const oldTls = { minVersion: old, maxVersion: old, ciphers: 'DEFAULT@SECLEVEL=0' };
const noTls = 'the server does not use TLS';
const noHandshake = 'the TLS handshake failed (ERR_SSL_';

/** What is wrong, the server, the trusted certificate, and the words for it. */
const cases: readonly (readonly [string, () => Server, string | undefined, string, RegExp])[] = [
  ['expired', () => tls(expiredCert), expiredCert, 'its certificate has expired', /clock/],
  ['not valid yet', () => tls(futureCert), futureCert, 'its certificate is not valid yet', /clock/],
  [
    'for another host',
    () => tls(otherCert),
    otherCert,
    'its certificate is for another host',
    /host name/,
  ],
  [
    'self-signed',
    () => tls(cert),
    undefined,
    'its certificate is self-signed',
    /NODE_EXTRA_CA_CERTS.*--use-system-ca|storeCa/,
  ],
  ['an HTTP server', () => answering('HTTP/1.1 400 Bad\r\n\r\n'), cert, noTls, /URL/],
  ['a Redis server', () => answering('-ERR unknown\r\n'), cert, noTls, /URL/],
  ['a mail server', () => answering('220 mail\r\n'), cert, noTls, /URL/],
  [
    'an old version',
    () => tls(cert, oldTls),
    cert,
    'the server does not support TLS 1.2 or newer',
    /TLS|URL/,
  ],
  ['an internal error', () => answering(alert(80)), cert, noHandshake, /./],
  ['an unknown name', () => answering(alert(112)), cert, noHandshake, /./],
];

/** How the program reaches a server over TLS, with the code and the words of its failures. */
const clients = [
  [
    'the service',
    'UNREACHABLE: cannot reach 127.0.0.1:PORT: ',
    async (port: number, ca: string | undefined) => {
      const transport = createTransport({}, { ca: ca === undefined ? undefined : [ca] });
      onTestFinished(() => transport.close());
      return transport.send({
        ...{ method: 'GET', url: `https://127.0.0.1:${port}/`, headers: {}, timeoutMs: 10_000 },
      });
    },
  ],
  [
    'the store',
    'STORE_AWAY: cannot use the store at rediss://127.0.0.1:PORT/0: ',
    (port: number, ca: string | undefined) =>
      connectStore(readStoreUrl(`rediss://127.0.0.1:${port}`), { ca, connectMs: 10_000 }),
  ],
] as const;

describe.each(clients)('a TLS failure of %s is stated in words', (_, words, connect) => {
  test.each(cases)('%s', async (_, start, ca, why, hint) => {
    const port = await listen(start());
    const failure = await failureOf(connect(port, ca));
    const { code, message, retryable } = failure;
    expect(`${code}: ${message}`).toContain(words.replace('PORT', String(port)) + why);
    if (code === 'UNREACHABLE') expect(retryable).toBe(false);
    expect(message).not.toMatch(/routines|openssl|altnames|error:/i);
    expect(hintOf(failure)).toMatch(hint);
  });
});

describe('an error of TLS', () => {
  test.each([
    [
      'EPROTO',
      'write EPROTO 8030:error:0A00010B:SSL routines:ssl3_get_record:wrong version number',
      'notTls',
    ],
    [
      'EPROTO',
      'write EPROTO 8030:error:0A000438:SSL routines::tlsv1 alert internal error',
      'handshake',
    ],
    ['SELF_SIGNED_CERT_IN_CHAIN', '', 'untrusted'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', '', 'untrusted'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', '', 'untrusted'],
    ['HOSTNAME_MISMATCH', '', 'otherHost'],
    ['CERT_REVOKED', '', 'certificate'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', '', 'clientCertificate'],
    ['ERR_TLS_HANDSHAKE_TIMEOUT', '', 'handshake'],
    ['ECONNRESET', 'read ECONNRESET', undefined],
    ['ENOTFOUND', '', undefined],
  ])('%s %s is %s', (code, message, problem) => {
    expect(tlsFailure(Object.assign(new Error(message), { code }))?.problem).toBe(problem);
  });
});
