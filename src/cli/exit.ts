import type { FailureKind } from '../base/failure.ts';

/** What each exit code means, as `--help`, `schema` and the docs print it. */
export const exitCodes = {
  0: 'done; an empty page is done too',
  1: 'a bug in trdr',
  2: 'wrong usage, or the service said 400',
  3: '404: no verified link is held (many subjects: none of them was found)',
  4: 'no key, or 401',
  5: '403: scope, plan or account does not allow it',
  6: '402, or a limit of your own (--max-cu, me --min-units) stands in the way',
  7: 'still 429 after the waits allowed',
  8: 'resolve: not answerable yet',
  9: 'the service or the network failed, after retries',
  10: '--strict, and at least one subject was missing or failed',
  11: 'a confirmation is needed and nobody is there to ask',
  130: 'ended by SIGINT, in order',
  143: 'ended by SIGTERM, in order',
} as const;

export type ExitCode = keyof typeof exitCodes;

/** Where each kind of failure ends. */
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
