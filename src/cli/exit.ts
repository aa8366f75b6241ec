import type { FailureKind } from '../base/failure.ts';

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
  10: '--strict and at least one subject is missing or failed; verify: not complete, or changed',
  11: 'confirmation declined, or required in a run that is not interactive',
  129: 'hung up (SIGHUP), shut down cleanly',
  130: 'interrupted (SIGINT), shut down cleanly',
  143: 'terminated (SIGTERM), shut down cleanly',
} as const;

/**
 * The error codes of trdr for limits (exit 6) and confirmations (exit 11), for the docs and
 * `schema`.
 */
export const limitCodes = {
  CEILING: {
    exit: 6,
    meaning: 'The spending limit of the run is reached: --max-cu, or else confirmAbove.',
  },
  BUDGET: { exit: 6, meaning: 'A budget (trdr budget set) does not cover the next call.' },
  NOT_AGREED: {
    exit: 6,
    meaning: 'An answer was lost, and requesting it again would exceed the confirmed cost.',
  },
  UNITS_LOW: { exit: 6, meaning: 'me: fewer units are left than --min-units requires.' },
  REVEALS_LOW: {
    exit: 6,
    meaning: 'me: fewer wallet reveals are left than --min-reveals requires.',
  },
  DAYS_LOW: { exit: 6, meaning: 'me: the units last for fewer days than --min-days requires.' },
  CONFIRMATION_NEEDED: {
    exit: 11,
    meaning: 'The run needs a confirmation, but is not interactive.',
  },
  NOT_CONFIRMED: { exit: 11, meaning: 'The user declined.' },
} as const satisfies Record<string, { exit: 6 | 11; meaning: string }>;

export type ExitCode = keyof typeof exitCodes;

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
