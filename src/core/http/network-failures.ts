import { Failure } from '../../base/failure.ts';
import { errno } from '../../base/files.ts';
import { type TlsProblem, tlsFailure } from '../../base/tls-failure.ts';
import { group } from '../../base/units.ts';

const words: Readonly<Record<string, string>> = {
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'DNS lookup failed',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection closed',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_SOCKET: 'connection closed',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the response was cut short',
};

export const unreachable = (host: string, cause: unknown) => {
  const code = errno(cause);
  const tls = tlsFailure(cause);
  return new Failure(
    'network',
    code === 'ENOTFOUND'
      ? `cannot resolve host ${host}`
      : `cannot reach ${host}: ${wordsOf(cause)}`,
    {
      code: 'UNREACHABLE',
      // A retry cannot fix TLS or an unknown host name.
      retryable: tls === undefined && code !== 'ENOTFOUND',
      hint: (tls && tlsHints[tls.problem]) ?? NETWORK_HINT,
      cause,
    },
  );
};

export const broken = (host: string, cause: unknown) =>
  isMalformed(cause)
    ? malformed(host, cause)
    : new Failure(
        'network',
        `lost the connection to ${host} before the response was complete: ${wordsOf(cause)}`,
        {
          code: 'BROKEN',
          retryable: true,
          hint: 'try again; if it keeps happening, check the base URL, the network and any proxy: trdr doctor',
          cause,
        },
      );

/** Not valid HTTP: a retry would get the same response, and might be charged again. */
const malformed = (host: string, cause: unknown) =>
  new Failure(
    'answer',
    `cannot read the answer of ${host}: it is not valid HTTP (${wordsOf(cause)})`,
    {
      code: 'BAD_ANSWER',
      hint: 'check the base URL and any proxy: trdr doctor',
      cause,
    },
  );

export const noAnswer = (host: string, ms: number) =>
  timedOut(`${host} did not answer within ${ms / 1000} s`);

/** The response began, but then stopped or took too long. */
export const incomplete = (host: string, ms: number) =>
  timedOut(`${host} did not complete its response (timeout: ${ms / 1000} s)`);

const timedOut = (message: string) =>
  new Failure('network', message, {
    code: 'NO_ANSWER',
    retryable: true,
    hint: 'allow more time with --timeout',
  });

export const tooLarge = (host: string, bytes: number) =>
  new Failure(
    'answer',
    `${host} sent a response larger than ${group(bytes)} bytes; trdr discarded it`,
    {
      code: 'BAD_ANSWER',
      hint: 'check the base URL: trdr doctor',
    },
  );

/** trdr does not follow redirects, because the key must be sent only to the base URL. */
export const redirected = (host: string, status: number, location: string) =>
  new Failure('service', `${host} redirects to ${location.slice(0, 200)} (HTTP ${status})`, {
    code: 'REDIRECT',
    status,
    retryable: true,
    hint: 'trdr does not follow redirects, so that the key is not sent elsewhere; if the service has moved, set its new address as the base URL',
  });

const NETWORK_HINT = 'check the base URL, the network and any proxy: trdr doctor';

const TRUST_HINT =
  'if you trust the issuer of the certificate, set NODE_EXTRA_CA_CERTS to the certificate file of the issuer';
const CLOCK_HINT =
  'check the clock of this machine; if it is correct, report the certificate to the operator of the service';

const tlsHints: Partial<Record<TlsProblem, string>> = {
  expired: CLOCK_HINT,
  early: CLOCK_HINT,
  selfSigned: TRUST_HINT,
  untrusted: TRUST_HINT,
  otherHost: 'check the host name in the base URL, and any proxy: trdr doctor',
  notTls:
    'check the host and the port in the base URL; if the service uses plain http, write http://',
};

/** True if undici could not parse a response; false if the response only ended too early. */
const isMalformed = (error: unknown) =>
  error instanceof Error && error.name === 'HTTPParserError' && !error.message.includes('EOF');

function wordsOf(error: unknown): string {
  const code = errno(error);
  const known = tlsFailure(error)?.why ?? words[code];
  if (known) return known;
  const text =
    error instanceof Error ? error.message.slice(0, 200).replace(/\.$/, '') : 'unknown reason';
  return code && !text.includes(code) ? `${text} (${code})` : text;
}
