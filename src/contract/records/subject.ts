import * as z from 'zod/mini';
import { field } from '../field.ts';
import { LaunchpadUser } from './launchpad.ts';
import { Pnl } from './pnl.ts';
import { User } from './user.ts';

/** An error as the tool reports it, on stderr or inside a record. Absent members are left out. */
export const Trouble = z.looseObject({
  code: field(z.string(), 'The code of the service, or of trdr.'),
  message: z.string(),
  status: z.optional(field(z.int(), 'HTTP status.')),
  retryable: z.optional(z.boolean()),
  retryAfter: z.optional(field(z.number(), 'Seconds.')),
  requestId: z.optional(z.string()),
  hint: z.optional(field(z.string(), 'What to do next.')),
  exit: z.optional(field(z.int(), 'The exit code it leads to.')),
});
export type Trouble = z.infer<typeof Trouble>;

const subject = field(z.string(), 'The subject as it was given.');

/** A subject for which no verified link is held. */
export const MissingSubject = z.looseObject({
  subject,
  found: z.literal(false),
  code: field(z.string(), 'NOT_OBSERVED, or PENDING where a resolve can not be answered yet.'),
});
/** A subject about which nothing could be learnt. */
export const FailedSubject = z.looseObject({ subject, found: z.null(), error: Trouble });

const answered = <S extends z.core.$ZodLooseShape>(shape: S) =>
  z.looseObject({ subject, found: z.literal(true), ...shape });

/** One line of `trdr whois`. */
export const WhoisRecord = z.union([answered(User.shape), MissingSubject, FailedSubject]);
export type WhoisRecord = z.infer<typeof WhoisRecord>;

/** A handle that can't be answered yet. */
export const PendingSubject = z.looseObject({
  subject,
  found: z.literal(false),
  code: z.literal('PENDING'),
  reason: z.string(),
  retryable: z.boolean(),
  retryAfterSeconds: z.optional(z.int()),
  position: z.optional(z.int()),
});

/** One line of `trdr resolve`. */
export const ResolveRecord = z.union([
  answered({
    source: field(z.enum(['held', 'cached', 'live']), 'Where the wallet came from.'),
    ...User.shape,
  }),
  PendingSubject,
  MissingSubject,
  FailedSubject,
]);
export type ResolveRecord = z.infer<typeof ResolveRecord>;

/** One line of `trdr launchpad user`. */
export const LaunchpadUserRecord = z.union([answered(LaunchpadUser.shape), MissingSubject, FailedSubject]);
export type LaunchpadUserRecord = z.infer<typeof LaunchpadUserRecord>;

/** One line of `trdr pnl`. */
export const PnlRecord = z.union([answered(Pnl.shape), MissingSubject, FailedSubject]);
export type PnlRecord = z.infer<typeof PnlRecord>;
