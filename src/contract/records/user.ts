import * as z from 'zod/mini';
import { boolean, field, int, optional, string, stringOrNull } from '../field.ts';
import type { Known } from '../read-record.ts';

const Social = z.looseObject({
  provider: string('Platform, such as x, telegram, youtube or reddit.'),
  subject: string('User id on the platform; does not change when the user renames the account.'),
  handle: stringOrNull('Username when the account was verified; may change.'),
});

/** A user, with the wallets that are verified to be theirs. */
export const User = z.looseObject({
  id: string('Stable user id; never changes; use it as your key.', { format: 'uuid' }),
  handle: string('Current handle; users can rename, so do not use it as a key.'),
  name: stringOrNull('Display name.'),
  bio: stringOrNull('Profile text written by the user; null if none.'),
  banner: stringOrNull('URL of the cover photo; may no longer work.'),
  profilePicture: stringOrNull('URL of the avatar; may no longer work.'),
  twitter: stringOrNull(
    'Link to the X profile, https://x.com/<handle>; self-declared and not verified; null if the user gave no valid X handle.',
  ),
  solanaAddress: stringOrNull('Verified Solana address, base58; null if none is on record.'),
  evmAddress: stringOrNull('Verified EVM address, 0x-prefixed; null if none is on record.'),
  socials: optional(
    z.array(Social),
    'Linked social accounts; absent unless the service has enabled them.',
  ),
});
export type User = z.infer<typeof User>;

/**
 * Whether the record contains a verified wallet, which is what a reveal is charged for. An empty
 * text does not count.
 */
export const holdsWallet = ({ solanaAddress, evmAddress }: Known<User>): boolean =>
  Boolean(solanaAddress || evmAddress);

export const pendingReasons = {
  queued: 'the request was accepted; the answer is not ready yet',
  timeout: 'the answer did not arrive in time; request it again',
  unavailable: 'the service cannot answer now',
  rate_limited: 'the request was not accepted; retry later',
  no_preview: 'no wallet can be verified; a retry rarely helps',
  not_ingested: 'the record is not available yet; retry shortly',
} as const;
/** Undefined for a reason that the description does not know. */
export const pendingMeaning = (reason: unknown): string | undefined =>
  Object.entries(pendingReasons).find(([name]) => name === reason)?.[1];

export type PendingReason = keyof typeof pendingReasons;

/** The 202 response of a resolve: there is no answer yet, which is not an error. */
export const Pending = z.looseObject({
  pending: field(z.literal(true), 'Always true.'),
  // An unknown reason must not make a paid answer unreadable, so the list is not checked.
  reason: string('Why there is no answer yet.', { enum: Object.keys(pendingReasons) }),
  retryable: boolean('False only for no_preview.'),
  retryAfterSeconds: z.optional(int('Seconds to wait; present for queued and rate_limited.')),
  position: z.optional(int('Position in the queue, 1 is next; only for queued.')),
});
export type Pending = z.infer<typeof Pending>;
