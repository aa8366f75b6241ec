import { checkable, Failure, type Hint } from '../../base/failure.ts';
import { errno } from '../../base/files.ts';
import { type TlsProblem, tlsFailure } from '../../base/tls-failure.ts';
import { group } from '../../base/units.ts';

/** Why a connection failed, by the codes of Node and undici. */
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

/** The failure of a request that cannot have reached the service. */
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
      hint: (tls && tlsHints[tls.problem]) ?? checkable(NETWORK_ADVICE),
      cause,
    },
  );
};

/**
 * The failure of a request that was sent, but whose connection broke before the response was
 * complete.
 */
export const broken = (host: string, cause: unknown) =>
  isMalformed(cause)
    ? malformed(host, cause)
    : new Failure(
        'network',
        `lost the connection to ${host} before the response was complete: ${wordsOf(cause)}`,
        {
          code: 'BROKEN',
          retryable: true,
          hint: checkable(`try again; if it keeps happening, ${NETWORK_ADVICE}`),
          cause,
        },
      );

/**
 * The failure of a response that is not valid HTTP: a retry would get the same response, and might
 * be charged again.
 */
const malformed = (host: string, cause: unknown) =>
  new Failure(
    'answer',
    `cannot read the answer of ${host}: it is not valid HTTP (${wordsOf(cause)})`,
    {
      code: 'BAD_ANSWER',
      hint: checkable('check the base URL and any proxy'),
      cause,
    },
  );

/** The failure of a request that was sent, but not answered within the timeout. */
export const noAnswer = (host: string, ms: number) =>
  timedOut(`${host} did not answer within ${ms / 1000} s`);

/** The failure of a response that began, but then stopped or took too long. */
export const incomplete = (host: string, ms: number) =>
  timedOut(`${host} did not complete its response (timeout: ${ms / 1000} s)`);

const timedOut = (message: string) =>
  new Failure('network', message, {
    code: 'NO_ANSWER',
    retryable: true,
    hint: 'allow more time with --timeout',
  });

/** The failure of a response that is larger than anything that the service sends. */
export const tooLarge = (host: string, bytes: number) =>
  new Failure(
    'answer',
    `${host} sent a response larger than ${group(bytes)} bytes; trdr discarded it`,
    {
      code: 'BAD_ANSWER',
      hint: checkable('check the base URL'),
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

const NETWORK_ADVICE = 'check the base URL, the network and any proxy';

const TRUST =
  'if you trust the issuer of the certificate, such as your company, set NODE_EXTRA_CA_CERTS to its certificate file; or trust what the system trusts: NODE_OPTIONS=--use-system-ca, with Node 22.15 or newer';
const CLOCK =
  'check the clock of this machine; if it is correct, report the certificate to the operator of the service';

const tlsHints: Partial<Record<TlsProblem, Hint>> = {
  expired: CLOCK,
  early: CLOCK,
  selfSigned: TRUST,
  untrusted: TRUST,
  otherHost: checkable('check the host name in the base URL, and any proxy'),
  notTls:
    'check the host and the port in the base URL; if the service uses plain http, write http://',
};

/**
 * True if undici could not parse a response; false if the response only ended too early: undici
 * then reports no data that it could not parse.
 */
const isMalformed = (error: unknown) =>
  error instanceof Error &&
  error.name === 'HTTPParserError' &&
  !('data' in error && error.data === '');

function wordsOf(error: unknown): string {
  const code = errno(error);
  const reason = tlsFailure(error)?.why ?? words[code];
  if (reason) return reason;
  const text =
    error instanceof Error ? error.message.slice(0, 200).replace(/\.$/, '') : 'unknown reason';
  return code && !text.includes(code) ? `${text} (${code})` : text;
}
