import type { StoreAddress } from './address.ts';
import { DATA_HINT, storeFailure } from './failures.ts';

/** The first part of the hint for a store that cannot be reached. */
const AWAY_HINT = 'run "trdr store check" to see whether the store is running and reachable';

const OFF_HINT = '; set TRDR_STORE=off to run without the store';

/**
 * The hint for the commands that check a store. It does not suggest running such a command, or running
 * without the store.
 */
export const hintForCheck = (hint: string | undefined) =>
  hint
    ?.replace(AWAY_HINT, 'check that the address is right and that the server is running and reachable')
    .replace(DATA_HINT, 'check that the server is Redis 7.0 or newer, or Valkey')
    .replace(OFF_HINT, '');

/**
 * The failure of a store that cannot be reached. `cause` is the system error, if there was one. If the connection is
 * reset or fails without a system error before it is ready, the address may belong to another kind of server, or have
 * the wrong TLS scheme.
 */
export function awayFailure(
  address: StoreAddress,
  why: string,
  cause: unknown,
  { connected, ownCa }: { readonly connected: boolean; readonly ownCa: boolean },
) {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const tls = untrusted.has(code) ? untrustedText(code, ownCa) : tlsReasons[code];
  const detail = tls?.why ?? reasons[code] ?? (code === '' ? why : code);
  const otherScheme = address.tls
    ? '; if the server does not use TLS, write redis://'
    : '; if the server requires TLS, write rediss://';
  const isKindUnclear = !connected && address.path === undefined && (detail === why || code === 'ECONNRESET');
  return storeFailure(
    'STORE_AWAY',
    `cannot use the store at ${address.shown}: ${detail}`,
    `${tls?.fix ?? AWAY_HINT}${isKindUnclear ? otherScheme : ''}${OFF_HINT}`,
    cause,
  );
}

/** The failure for a server that is a replica: it rejects or loses writes, and its data may be outdated. */
export const replicaFailure = (address: StoreAddress) =>
  storeFailure(
    'STORE_AWAY',
    `cannot use the store at ${address.shown}: it is a replica`,
    'use the address of the primary; after a failover, wait until the replica is promoted',
  );

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the host name cannot be resolved',
  ETIMEDOUT: 'no answer',
  ECONNRESET: 'the connection was reset',
  ENOENT: 'the socket does not exist',
  EACCES: 'no permission to use the socket',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
};

interface TlsReason {
  readonly why: string;
  readonly fix: string;
}

/** The errors of a certificate whose authority is not trusted. */
const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

const untrustedText = (code: string, ownCa: boolean): TlsReason =>
  ownCa
    ? {
        why: 'its certificate was not signed by the authority in storeCa',
        fix: 'set the right certificate file: trdr config set storeCa FILE, or TRDR_STORE_CA',
      }
    : {
        why: code.startsWith('DEPTH_ZERO')
          ? 'its certificate is self-signed'
          : 'its certificate was not signed by a trusted authority',
        fix: 'set the certificate of its authority: trdr config set storeCa FILE, or TRDR_STORE_CA',
      };

const tlsReasons: Readonly<Record<string, TlsReason>> = {
  CERT_HAS_EXPIRED: { why: 'its certificate has expired', fix: 'renew the certificate of the server' },
  CERT_NOT_YET_VALID: {
    why: 'its certificate is not valid yet',
    fix: 'check the clock of this machine',
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    why: 'its certificate is for another host',
    fix: 'use the host name in the certificate, or issue a certificate for this host',
  },
  ERR_SSL_WRONG_VERSION_NUMBER: {
    why: 'the server does not use TLS',
    fix: 'use redis:// instead of rediss:// in the URL',
  },
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: {
    why: 'the server requires a client certificate',
    fix: 'set "tls-auth-clients no" in the configuration of the server',
  },
};
