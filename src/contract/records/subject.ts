import * as z from 'zod/mini';
import { field } from '../field.ts';
import type { Sent } from '../read-record.ts';
import { LaunchpadUser } from './launchpad.ts';
import { Pnl } from './pnl.ts';
import { User } from './user.ts';

/** An error as the tool reports it, on stderr or inside a record. Absent members are left out. */
export const ErrorInfo = z.looseObject({
  code: field(z.string(), 'Error code of the service or of trdr.'),
  message: field(z.string(), 'What happened.'),
  status: z.optional(field(z.int(), 'HTTP status of the answer.')),
  retryable: z.optional(field(z.boolean(), 'Whether the same call may succeed later.')),
  retryAfter: z.optional(field(z.number(), 'Seconds to wait before the next try.')),
  requestId: z.optional(field(z.string(), 'Quote it when you contact support.')),
  hint: z.optional(field(z.string(), 'A suggested fix or next command.')),
  exit: z.optional(field(z.int(), 'Exit code of the run.')),
});
export type ErrorInfo = z.infer<typeof ErrorInfo>;

const subject = field(z.string(), 'The subject as it was given.');

/** A subject without a verified link. */
export const MissingSubject = z.looseObject({
  subject,
  found: field(z.literal(false), 'No verified link on record today, or no answer yet.'),
  code: field(z.string(), 'NOT_OBSERVED, or PENDING if a resolve has no answer yet.'),
});
/** A subject whose lookup failed. */
export const FailedSubject = z.looseObject({
  subject,
  found: field(z.null(), 'Unknown: the lookup failed.'),
  error: field(ErrorInfo, 'Why the lookup failed.'),
});

/** A subject that was found, with its record as the service sent it. */
export type FoundSubject = Sent & { readonly subject: string; readonly found: true };
type Unanswered = z.infer<typeof MissingSubject> | z.infer<typeof FailedSubject>;

const answered = <S extends z.core.$ZodLooseShape>(shape: S) =>
  z.looseObject({ subject, found: field(z.literal(true), 'The subject was found.'), ...shape });

/** One line of `trdr whois`. */
export const WhoisRecord = z.union([answered(User.shape), MissingSubject, FailedSubject]);
export type WhoisRecord = FoundSubject | Unanswered;

/** A handle without an answer yet. */
export const PendingSubject = z.looseObject({
  subject,
  found: field(z.literal(false), 'An answer is not available yet.'),
  code: field(z.literal('PENDING'), 'Always PENDING.'),
  reason: field(z.string(), 'queued, timeout, unavailable, rate_limited, no_preview or not_ingested.'),
  retryable: field(z.boolean(), 'False only for no_preview, where retrying rarely helps.'),
  retryAfterSeconds: z.optional(field(z.int(), 'Seconds to wait; present on queued and rate_limited.')),
  position: z.optional(field(z.int(), 'Place in the queue; present on queued; 1 is next up.')),
});

/** One line of `trdr resolve`. */
export const ResolveRecord = z.union([
  answered({
    source: field(
      z.enum(['held', 'cached', 'live']),
      'held: from the lookup; cached: already on record; live: searched for.',
    ),
    ...User.shape,
  }),
  PendingSubject,
  MissingSubject,
  FailedSubject,
]);
export type ResolveRecord = FoundSubject | z.infer<typeof PendingSubject> | Unanswered;

/** One line of `trdr launchpad user`. */
export const LaunchpadUserRecord = z.union([answered(LaunchpadUser.shape), MissingSubject, FailedSubject]);
export type LaunchpadUserRecord = FoundSubject | Unanswered;

/** One line of `trdr pnl`. */
export const PnlRecord = z.union([answered(Pnl.shape), MissingSubject, FailedSubject]);
export type PnlRecord = FoundSubject | Unanswered;
