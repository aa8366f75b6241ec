import type { FailureKind } from '../base/failure.ts';

/** The meaning of each exit code, for `--help`, `schema` and the docs. */
export const exitCodes = {
  0: 'success (including empty results)',
  1: 'a bug in trdr',
  2: 'usage error, or HTTP 400',
  3: 'not found (several subjects: none was found)',
  4: 'no key, or HTTP 401',
  5: 'HTTP 403: scope, plan or account does not allow it',
  6: 'quota exhausted (402) or your own limit reached',
  7: 'still rate limited (429) after the allowed waits',
  8: 'resolve: no answer yet',
  9: 'the service, the network, the disk or the shared store failed, after retries',
  10: '--strict and at least one subject is missing or failed',
  11: 'confirmation declined, or required in a run that is not interactive',
  129: 'hung up (SIGHUP), shut down cleanly',
  130: 'interrupted (SIGINT), shut down cleanly',
  143: 'terminated (SIGTERM), shut down cleanly',
} as const;

export type ExitCode = keyof typeof exitCodes;

/** The exit code for each kind of failure. */
export const exitOf: Readonly<Record<FailureKind, ExitCode>> = {
  usage: 2,
  missing: 3,
  auth: 4,
  forbidden: 5,
  quota: 6,
  limit: 6,
  rate: 7,
  pending: 8,
  service: 9,
  network: 9,
  answer: 9,
  local: 9,
  confirm: 11,
  strict: 10,
};
