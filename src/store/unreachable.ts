import { errno } from '../base/files.ts';
import { type TlsProblem, tlsFailure } from '../base/tls-failure.ts';
import type { StoreAddress } from './address.ts';
import { DATA_HINT, storeFailure } from './failures.ts';

const AWAY_HINT = 'run "trdr store check" to see whether the store is running and reachable';

const OFF_HINT = '; set TRDR_STORE=off to run without the store';

/** For the commands that check a store: suggests neither them, nor running without the store. */
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
  const code = errno(cause);
  const tls = tlsFailure(cause);
  const isUntrusted = ownCa && (tls?.problem === 'selfSigned' || tls?.problem === 'untrusted');
  const detail = isUntrusted
    ? 'its certificate was not signed by the authority in storeCa'
    : (tls?.why ?? reasons[code] ?? (code === '' ? why : code));
  const fix = isUntrusted
    ? 'set the right certificate file: trdr config set storeCa FILE, or TRDR_STORE_CA'
    : tls && tlsFixes[tls.problem];
  const otherScheme = address.tls
    ? '; if the server does not use TLS, write redis://'
    : '; if the server requires TLS, write rediss://';
  const isKindUnclear = !connected && address.path === undefined && (detail === why || code === 'ECONNRESET');
  return storeFailure(
    'STORE_AWAY',
    `cannot use the store at ${address.shown}: ${detail}`,
    `${fix ?? AWAY_HINT}${isKindUnclear ? otherScheme : ''}${OFF_HINT}`,
    cause,
  );
}

/** A replica rejects or loses writes, and its data may be outdated. */
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

const CA_FIX = 'set the certificate of its authority: trdr config set storeCa FILE, or TRDR_STORE_CA';

const tlsFixes: Partial<Record<TlsProblem, string>> = {
  expired: 'check the clock of this machine; if it is correct, renew the certificate of the server',
  early: 'check the clock of this machine',
  selfSigned: CA_FIX,
  untrusted: CA_FIX,
  otherHost: 'use the host name in the certificate, or issue a certificate for this host',
  notTls: 'use redis:// instead of rediss:// in the URL',
  version: 'enable TLS 1.2 or newer in the configuration of the server',
  clientCertificate: 'set "tls-auth-clients no" in the configuration of the server',
};
