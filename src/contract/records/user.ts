import * as z from 'zod/mini';
import { field, nullable } from '../field.ts';
import type { Known } from '../read-record.ts';

/** A social account that was linked and verified. */
export const Social = z.looseObject({
  provider: field(z.string(), 'Platform identifier such as x, telegram, youtube, reddit.'),
  subject: field(z.string(), 'Provider-stable user id; stable across renames; the join key.'),
  handle: field(nullable(z.string()), 'Display username at verification time; may change.'),
});
export type Social = z.infer<typeof Social>;

/** A trader and the wallets verified to be theirs. */
export const User = z.looseObject({
  id: field(z.string(), 'Stable user id; never changes; the key to store.', { format: 'uuid' }),
  handle: field(z.string(), 'Canonical handle; users rename, so do not key on it.'),
  name: field(nullable(z.string()), 'Display name.'),
  bio: field(nullable(z.string()), 'Profile text written by the user; null if none.'),
  banner: field(nullable(z.string()), 'Cover photo URL; may no longer resolve.'),
  profilePicture: field(nullable(z.string()), 'Avatar URL; may no longer resolve.'),
  twitter: field(
    nullable(z.string()),
    'X profile link, https://x.com/<handle>; self-declared, not verified; null without a plausible handle.',
  ),
  solanaAddress: field(nullable(z.string()), 'Verified Solana address, base58; null if none is on record.'),
  evmAddress: field(nullable(z.string()), 'Verified EVM address, 0x-prefixed; null if none is on record.'),
  socials: z.optional(
    field(z.array(Social), 'Linked social accounts; absent unless the API has them enabled.'),
  ),
});
export type User = z.infer<typeof User>;

/** Whether a user has a verified wallet on record. */
export const holdsWallet = ({ solanaAddress, evmAddress }: Known<User>): boolean =>
  typeof solanaAddress === 'string' || typeof evmAddress === 'string';

export const pendingReasons = {
  queued: 'accepted; the answer is not ready',
  timeout: 'the answer did not arrive in time; ask again',
  unavailable: 'no answer can be produced now',
  rate_limited: 'the request was not accepted; ask again later',
  no_preview: 'no wallet can be attested for this user; retrying rarely helps',
  not_ingested: 'the record is not readable yet; ask again shortly',
} as const;
export type PendingReason = keyof typeof pendingReasons;

/** The 202 of a resolve without an answer yet; not an error. */
export const Pending = z.looseObject({
  pending: field(z.literal(true), 'Always true.'),
  // An unknown reason must not make a paid answer unreadable.
  reason: field(z.string(), 'queued, timeout, unavailable, rate_limited, no_preview or not_ingested.'),
  retryable: field(z.boolean(), 'False only for no_preview.'),
  retryAfterSeconds: z.optional(field(z.int(), 'Seconds to wait; present on queued and rate_limited.')),
  position: z.optional(field(z.int(), 'Place in the queue, on queued only; 1 is next up.')),
});
export type Pending = z.infer<typeof Pending>;
