import * as z from 'zod/mini';
import {
  boolean,
  field,
  float,
  floatOrNull,
  int,
  intOrNull,
  optional,
  string,
  stringOrNull,
} from '../field.ts';
import type { Sent } from '../read-record.ts';
import { LaunchpadUser } from './launchpad.ts';
import { Pnl, PnlWindows } from './pnl.ts';
import { observed, obtained } from './provenance.ts';
import { Pending, User } from './user.ts';

/** An error as trdr reports it, on stderr or inside a record. */
const ErrorInfo = z.looseObject({
  code: string('Error code, from the service or from trdr.'),
  message: string('What happened.'),
  status: z.optional(int('HTTP status of the response.')),
  retryable: z.optional(boolean('Whether the same call can succeed later.')),
  retryAfter: z.optional(float('Seconds to wait before the next attempt.')),
  requestId: z.optional(string('Id of the request; quote it when you contact support.')),
  hint: z.optional(string('A suggested fix or next command.')),
  exit: z.optional(int('Exit code of the run.')),
});

/** The error that ends a run. */
export const RunError = field(
  z.looseObject({
    ...ErrorInfo.shape,
    approval: optional(
      z.looseObject({
        cuAtLeast: int('Least cost of the run.'),
        cuAtMost: intOrNull('Greatest cost; null if it is not known.'),
        left: floatOrNull('CU that the key has left; null if not known or not limited.'),
        command: string('Command line to run after a person has agreed.'),
      }),
      'With CONFIRMATION_NEEDED: what a person has to agree to.',
    ),
  }),
  'Why the run ended.',
);

const subject = string('The subject as the user wrote it.');

export const MissingSubject = z.looseObject({
  subject,
  found: field(
    z.literal(false),
    'False: no verified link is on record today, or there is no answer yet.',
  ),
  code: string(
    'NOT_OBSERVED; PENDING if resolve has no answer yet; NO_WALLET if a user has no wallet to look up.',
  ),
  ...obtained,
});
export const FailedSubject = z.looseObject({
  subject,
  found: field(z.null(), 'Null: unknown, because the lookup failed.'),
  error: field(ErrorInfo, 'Why the lookup failed.'),
});
/** Only the cheap ways of a wallet were tried, and they found nobody. */
export const UnaskedSubject = z.looseObject({
  subject,
  found: field(z.null(), 'Null: unknown, because the service was not asked for this wallet.'),
  code: field(z.literal('NOT_ASKED'), 'Always NOT_ASKED.'),
});

export type FoundSubject = Sent & { readonly subject: string; readonly found: true };

export type SubjectRecord = FoundSubject | z.infer<typeof MissingSubject> | FailedSubject;

/** The record of a subject whose request failed. */
export type FailedSubject = z.infer<typeof FailedSubject>;

export type MissingSubject = z.infer<typeof MissingSubject>;

export type UnaskedSubject = z.infer<typeof UnaskedSubject>;

export const answered = <S extends z.core.$ZodLooseShape>(shape: S) =>
  z.looseObject({
    subject,
    found: field(z.literal(true), 'True: the subject was found.'),
    ...shape,
    ...observed,
    ...obtained,
  });

const Earlier = z.looseObject({
  handle: z.optional(string('Handle of that time, if it has changed.')),
  solanaAddress: z.optional(string('Solana address of that time, if it has changed.')),
  evmAddress: z.optional(string('EVM address of that time, if it has changed.')),
  twitter: z.optional(string('X profile of that time, if it has changed.')),
  from: int('When it was first seen so, epoch ms.'),
  to: int('When it was last seen so, epoch ms.'),
  byHandle: z.optional(
    boolean(
      'True if trading numbers of the handle said so before the user was read: they have no user id, so the handle may have been that of another user.',
    ),
  ),
});

const userFields = {
  ...User.shape,
  was: optional(z.array(Earlier), 'In a history: what was different before, oldest first.'),
};

export const WhoisRecord = z.union([
  answered(userFields),
  MissingSubject,
  UnaskedSubject,
  FailedSubject,
]);

const FieldChange = z.looseObject({
  was: stringOrNull('The value in the earlier output.'),
  now: stringOrNull('The value today.'),
});

/** A trader compared with an earlier output. */
export const ComparedUserRecord = z.union([
  answered({
    ...userFields,
    change: optional(
      z.nullable(z.enum(['new', 'changed', 'same'])),
      'In a comparison: what changed; "left" on a record that is no longer found, null if a lookup failed.',
    ),
    changes: optional(
      z.looseObject({
        handle: optional(FieldChange, 'Handle.'),
        solanaAddress: optional(FieldChange, 'Solana address.'),
        evmAddress: optional(FieldChange, 'EVM address.'),
        twitter: optional(FieldChange, 'X profile.'),
      }),
      'In a comparison: the fields that changed.',
    ),
  }),
  MissingSubject,
  UnaskedSubject,
  FailedSubject,
]);

const { pending: _, ...pendingShape } = Pending.shape;
const PendingSubject = z.looseObject({
  subject,
  found: field(z.literal(false), 'False: the answer is not available yet.'),
  code: field(z.literal('PENDING'), 'Always PENDING.'),
  ...pendingShape,
  ...obtained,
});

export const ResolveRecord = z.union([
  answered({
    source: field(
      z.enum(['held', 'cached', 'live']),
      'How the wallet was found: held (plain lookup), cached (resolve without a live search) or live (live search).',
    ),
    ...User.shape,
  }),
  PendingSubject,
  MissingSubject,
  FailedSubject,
]);

export const LaunchpadUserRecord = z.union([
  answered(LaunchpadUser.shape),
  MissingSubject,
  FailedSubject,
]);

const difference = () => floatOrNull('New minus old.');
const Differences = field(
  z.looseObject({
    netUsd: difference(),
    returnPct: difference(),
    volumeUsd: difference(),
    trades: difference(),
    rank: floatOrNull('Places gained.'),
  }),
  'Null where either side has no number.',
);
const compared = {
  change: optional(
    z.nullable(z.enum(['new', 'left', 'changed', 'same'])),
    'In a comparison: what changed; left if only the earlier export has it, null if a request failed.',
  ),
  was: optional(z.string(), 'In a comparison: the handle in the earlier export, if it is another.'),
  changes: optional(
    z.partial(
      z.looseObject({
        '24h': Differences,
        '7d': Differences,
        '30d': Differences,
        all: Differences,
      }),
    ),
    'In a comparison: the differences of all numbers.',
  ),
};

const selected = {
  windows: field(
    z.partial(PnlWindows),
    'The numbers of the windows; all null if the service has no data for the wallets.',
  ),
};

export const PnlRecord = z.union([
  answered({ ...Pnl.shape, ...selected, ...compared }),
  MissingSubject,
  FailedSubject,
]);
export type PnlRecord = SubjectRecord;
