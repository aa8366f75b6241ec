import type { StoreAddress } from './address.ts';
import { storeFailure } from './failures.ts';

/** The first part of the hint for a store that cannot be reached. */
export const AWAY_HINT = 'run "trdr store check" to see whether the store is running and reachable';

/**
 * The failure of a store that cannot be reached. `cause` is the system error, if there was one. Without a
 * system error, the address may belong to another kind of server, or have the wrong TLS scheme.
 */
export function awayFailure(address: StoreAddress, why: string, cause: unknown, connected: boolean) {
  const detail = reasonOf(cause) ?? why;
  const how = address.tls ? 'does not use TLS, write redis://' : 'requires TLS, write rediss://';
  const kind = connected || detail !== why || address.path !== undefined ? '' : `; if it ${how}`;
  return storeFailure(
    'STORE_AWAY',
    `cannot use the store at ${address.shown}: ${detail}`,
    `${AWAY_HINT}${kind}; set TRDR_STORE=off to run without the store`,
    cause,
  );
}

/** The failure of a server that is a replica: writes to it would be lost, and its data may be outdated. */
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
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed; set storeCa',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not trusted; set storeCa',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not trusted; set storeCa',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is not trusted; set storeCa',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not use TLS',
};

function reasonOf(cause: unknown): string | undefined {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return reasons[code] ?? (code === '' ? undefined : code);
}
