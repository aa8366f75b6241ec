import { Failure } from '../../base/failure.ts';

/** Faults of a certificate or a name: the next try would meet the same. */
const LASTING =
  /^(ENOTFOUND|CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO|HOSTNAME_MISMATCH)/;

const words: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'no connection came about in time',
  UND_ERR_SOCKET: 'the connection was closed',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was cut short',
  HPE_INVALID_EOF_STATE: 'the answer was cut short',
};

/** A request that can't have reached the service. */
export const unreachable = (host: string, cause: unknown) => {
  const code = codeOf(cause);
  const lasting = LASTING.test(code);
  return new Failure('network', `could not reach ${host}: ${wordsOf(cause)}`, {
    code: 'UNREACHABLE',
    retryable: !lasting,
    hint: isTls(code)
      ? 'its certificate is not trusted here; if you trust its authority, name that in NODE_EXTRA_CA_CERTS'
      : 'check the base URL, the network and any proxy: trdr doctor',
    cause,
  });
};

/** A request that was sent, and whose connection broke before the whole answer was in. */
export const broken = (host: string, cause: unknown) =>
  new Failure('network', `the connection to ${host} broke before the answer was in: ${wordsOf(cause)}`, {
    code: 'BROKEN',
    retryable: true,
    hint: 'try again; if it keeps happening, look at the network and any proxy: trdr doctor',
    cause,
  });

/** A request that was sent and not answered in the time allowed. */
export const noAnswer = (host: string, ms: number) =>
  new Failure('network', `${host} did not answer within ${ms / 1000} s`, {
    code: 'NO_ANSWER',
    retryable: true,
    hint: 'allow more time with --timeout',
  });

/** An answer larger than anything the service sends. */
export const tooLarge = (host: string, bytes: number) =>
  new Failure('answer', `${host} sent an answer of more than ${bytes} bytes; it was not read`, {
    code: 'BAD_ANSWER',
    hint: 'check the base URL: trdr doctor',
  });

/** A redirect, which is never followed: the key is for the base URL alone. */
export const redirected = (host: string, status: number, location: string) =>
  new Failure('service', `${host} points elsewhere (${status}), to ${location.slice(0, 200)}`, {
    code: 'REDIRECT',
    status,
    hint: 'redirects are not followed, and the key was not sent there; if that is the service, make it the base URL',
  });

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
const isTls = (code: string) => LASTING.test(code) && code !== 'ENOTFOUND';
function wordsOf(error: unknown): string {
  const code = codeOf(error);
  const known = words[code];
  if (known) return known;
  const text = error instanceof Error ? error.message.slice(0, 200).replace(/\.$/, '') : 'unknown reason';
  return code && !text.includes(code) ? `${text} (${code})` : text;
}
