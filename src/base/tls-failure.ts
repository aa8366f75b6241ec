import { errno } from './files.ts';

/** What is wrong with a TLS connection. */
export type TlsProblem =
  | 'expired'
  | 'early'
  | 'selfSigned'
  | 'untrusted'
  | 'otherHost'
  | 'notTls'
  | 'version'
  | 'clientCertificate'
  | 'certificate'
  | 'handshake';

/** The codes of OpenSSL and Node, from the most specific one. The first match applies. */
const problems: readonly (readonly [pattern: RegExp, problem: TlsProblem, why: string])[] = [
  [/^CERT_HAS_EXPIRED/, 'expired', 'its certificate has expired'],
  [/^CERT_NOT_YET_VALID/, 'early', 'its certificate is not valid yet'],
  [/^DEPTH_ZERO_SELF_SIGNED/, 'selfSigned', 'its certificate is self-signed'],
  [
    /^(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF|UNABLE_TO_GET_ISSUER|CERT_UNTRUSTED|INVALID_CA)/,
    'untrusted',
    'its certificate was not signed by a trusted authority',
  ],
  [/^(ERR_TLS_CERT_ALTNAME|HOSTNAME_MISMATCH)/, 'otherHost', 'its certificate is for another host'],
  [
    /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|RECORD_LAYER_FAILURE/,
    'notTls',
    'the server does not use TLS',
  ],
  [
    /UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|VERSION_TOO_LOW/,
    'version',
    'the server does not support TLS 1.2 or newer',
  ],
  [/CERTIFICATE_REQUIRED/, 'clientCertificate', 'the server requires a client certificate'],
  [
    /^(CERT_|CRL_|UNABLE_TO_|ERROR_IN_C|INVALID_PURPOSE|PATH_LENGTH)/,
    'certificate',
    'its certificate is not valid',
  ],
  [/^(ERR_SSL_|ERR_TLS_|EPROTO)/, 'handshake', 'the TLS handshake failed'],
];

/** What is wrong with a TLS connection; undefined if the error has another cause. */
export function tlsFailure(
  error: unknown,
): { readonly problem: TlsProblem; readonly why: string } | undefined {
  const code = errno(error);
  // The reason of EPROTO is only in the message, such as "wrong version number".
  const text =
    code === 'EPROTO' && error instanceof Error
      ? `${code} ${error.message}`.toUpperCase().replace(/\s/g, '_')
      : code;
  const row = problems.find(([pattern]) => pattern.test(text));
  if (row === undefined) return undefined;
  const [, problem, why] = row;
  const isVague = problem === 'certificate' || problem === 'handshake';
  return { problem, why: isVague ? `${why} (${code})` : why };
}
