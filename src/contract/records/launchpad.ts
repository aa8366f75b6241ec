import * as z from 'zod/mini';
import { field, nullable } from '../field.ts';

/** An account of the launchpad. */
export const LaunchpadUser = z.looseObject({
  wallet: z.string(),
  username: nullable(z.string()),
  bio: nullable(z.string()),
  profileImage: nullable(z.string()),
  xUsername: field(nullable(z.string()), 'Linked X handle.'),
  isVerified: nullable(z.boolean()),
  isLaunchpadUser: field(
    nullable(z.boolean()),
    'False for a wallet that traded without creating an account.',
  ),
  followers: nullable(z.int()),
  following: nullable(z.int()),
  groupBadges: z.array(z.string()),
});
export type LaunchpadUser = z.infer<typeof LaunchpadUser>;

/** A coin called out by a wallet. */
export const Callout = z.looseObject({
  id: z.string(),
  wallet: field(z.string(), 'The author; the wallet is the identity.'),
  userName: nullable(z.string()),
  xUsername: nullable(z.string()),
  isVerified: nullable(z.boolean()),
  coinMint: z.string(),
  chain: nullable(z.string()),
  coinSymbol: nullable(z.string()),
  coinName: nullable(z.string()),
  thesis: nullable(z.string()),
  mediaUrl: nullable(z.string()),
  calledOutAtMcap: field(nullable(z.number()), 'Market cap in USD when posted.'),
  multiple: field(nullable(z.number()), 'Price move since the callout, as a multiplier.'),
  maxMultiplier: nullable(z.number()),
  createdAt: field(nullable(z.int()), 'Post time, epoch ms.'),
});
export type Callout = z.infer<typeof Callout>;

export const CalloutPage = z.looseObject({
  count: z.int(),
  hasMore: z.boolean(),
  nextBefore: field(nullable(z.string()), 'Oldest item id; null on the last page.'),
  items: z.array(Callout),
});
export type CalloutPage = z.infer<typeof CalloutPage>;

export const boardPeriods = ['daily', 'weekly', 'monthly'] as const;
export type BoardPeriod = (typeof boardPeriods)[number];

export const BoardEntry = z.looseObject({
  rank: z.int(),
  wallet: z.string(),
  username: nullable(z.string()),
  isVerified: nullable(z.boolean()),
  pnlSol: nullable(z.number()),
  pnlUsd: nullable(z.number()),
  pnlPercent: nullable(z.number()),
  realizedPnlUsd: nullable(z.number()),
  unrealizedPnlUsd: nullable(z.number()),
});
export type BoardEntry = z.infer<typeof BoardEntry>;

export const Board = z.looseObject({
  period: z.string(),
  capturedAt: field(nullable(z.int()), 'Snapshot time, epoch ms.'),
  count: z.int(),
  entries: z.array(BoardEntry),
});
export type Board = z.infer<typeof Board>;
