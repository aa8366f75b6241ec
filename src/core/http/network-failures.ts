import { Failure } from '../../base/failure.ts';
import { group } from '../../base/units.ts';

/** TLS and host name errors, which a retry cannot fix. */
const LASTING =
  /^(ENOTFOUND|CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO|HOSTNAME_MISMATCH)/;

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
  const code = codeOf(cause);
  const lasting = LASTING.test(code);
  return new Failure(
    'network',
    code === 'ENOTFOUND' ? `cannot resolve host ${host}` : `cannot reach ${host}: ${wordsOf(cause)}`,
    {
      code: 'UNREACHABLE',
      retryable: !lasting,
      hint: hintFor(code),
      cause,
    },
  );
};

/** The failure of a request that was sent, but whose connection broke before the response was complete. */
export const broken = (host: string, cause: unknown) =>
  isMalformed(cause)
    ? malformed(host, cause)
    : new Failure(
        'network',
        `lost the connection to ${host} before the response was complete: ${wordsOf(cause)}`,
        {
          code: 'BROKEN',
          retryable: true,
          hint: 'try again; if it keeps happening, check the network and any proxy: trdr doctor',
          cause,
        },
      );

/**
 * The failure of a response that is not valid HTTP. A retry would get the same response, and might be charged
 * again.
 */
const malformed = (host: string, cause: unknown) =>
  new Failure('answer', `cannot read the answer of ${host}: it is not valid HTTP (${wordsOf(cause)})`, {
    code: 'BAD_ANSWER',
    hint: 'check the base URL and any proxy: trdr doctor',
    cause,
  });

/** The failure of a request that was sent, but not answered within the timeout. */
export const noAnswer = (host: string, ms: number) =>
  new Failure('network', `${host} did not answer within ${ms / 1000} s`, {
    code: 'NO_ANSWER',
    retryable: true,
    hint: 'allow more time with --timeout',
  });

/** The failure of a response that began, but then stopped or took too long. */
export const incomplete = (host: string, ms: number) =>
  new Failure('network', `${host} did not complete its response (timeout: ${ms / 1000} s)`, {
    code: 'NO_ANSWER',
    retryable: true,
    hint: 'allow more time with --timeout',
  });

/** The failure of a response that is larger than anything that the service sends. */
export const tooLarge = (host: string, bytes: number) =>
  new Failure('answer', `${host} sent a response larger than ${group(bytes)} bytes; trdr discarded it`, {
    code: 'BAD_ANSWER',
    hint: 'check the base URL: trdr doctor',
  });

/**
 * The failure of a redirect. trdr does not follow redirects, because the key must be sent only to the base
 * URL.
 */
export const redirected = (host: string, status: number, location: string) =>
  new Failure('service', `${host} redirects to ${location.slice(0, 200)} (HTTP ${status})`, {
    code: 'REDIRECT',
    status,
    hint: 'trdr does not follow redirects, so that the key is not sent elsewhere; if the service has moved, set its new address as the base URL',
  });

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
/** True if undici could not parse a response; false if the response only ended too early. */
const isMalformed = (error: unknown) =>
  error instanceof Error && error.name === 'HTTPParserError' && !error.message.includes('EOF');

function hintFor(code: string): string {
  if (/^(DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|CERT_UNTRUSTED)/.test(code))
    return 'the certificate is not trusted on this machine; if you trust its issuer, set NODE_EXTRA_CA_CERTS to the certificate file of the issuer';
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return 'check the clock of this machine; if it is correct, report the certificate to the operator of the service';
  return 'check the base URL, the network and any proxy: trdr doctor';
}

function wordsOf(error: unknown): string {
  const code = codeOf(error);
  const known = words[code];
  if (known) return known;
  const text = error instanceof Error ? error.message.slice(0, 200).replace(/\.$/, '') : 'unknown reason';
  return code && !text.includes(code) ? `${text} (${code})` : text;
}
