import { errno } from './files.ts';

const words = {
  expired: 'its certificate has expired',
  early: 'its certificate is not valid yet',
  selfSigned: 'its certificate is self-signed',
  untrusted: 'its certificate was not signed by a trusted authority',
  otherHost: 'its certificate is for another host',
  notTls: 'the server does not use TLS',
  version: 'the server does not support TLS 1.2 or newer',
  clientCertificate: 'the server requires a client certificate',
  certificate: 'its certificate is not valid',
  handshake: 'the TLS handshake failed',
} as const;

export type TlsProblem = keyof typeof words;

/** The codes of OpenSSL and Node. The first match applies. */
const patterns: readonly (readonly [RegExp, TlsProblem])[] = [
  [/^CERT_HAS_EXPIRED/, 'expired'],
  [/^CERT_NOT_YET_VALID/, 'early'],
  [/^DEPTH_ZERO_SELF_SIGNED/, 'selfSigned'],
  [
    /^(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF|UNABLE_TO_GET_ISSUER|CERT_UNTRUSTED|INVALID_CA)/,
    'untrusted',
  ],
  [/^(ERR_TLS_CERT_ALTNAME|HOSTNAME_MISMATCH)/, 'otherHost'],
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|RECORD_LAYER_FAILURE/, 'notTls'],
  [/UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|VERSION_TOO_LOW/, 'version'],
  [/CERTIFICATE_REQUIRED/, 'clientCertificate'],
  [/^(CERT_|CRL_|UNABLE_TO_|ERROR_IN_C|INVALID_PURPOSE|PATH_LENGTH)/, 'certificate'],
  [/^(ERR_SSL_|ERR_TLS_|EPROTO)/, 'handshake'],
];

/** Undefined if the error has another cause. */
export function tlsFailure(
  error: unknown,
): { readonly problem: TlsProblem; readonly why: string } | undefined {
  const code = errno(error);
  // The reason of EPROTO is only in the message, such as "wrong version number".
  const text =
    code === 'EPROTO' && error instanceof Error
      ? `${code} ${error.message}`.toUpperCase().replace(/\s/g, '_')
      : code;
  const problem = patterns.find(([pattern]) => pattern.test(text))?.[1];
  if (problem === undefined) return undefined;
  const isVague = problem === 'certificate' || problem === 'handshake';
  return { problem, why: isVague ? `${words[problem]} (${code})` : words[problem] };
}
