import * as z from 'zod/mini';
import { boolean, field, int, nullable, string } from '../field.ts';
import { CALLOUT_PAGE } from '../limits.ts';
import { cooled, observed } from './provenance.ts';

export const LaunchpadUser = z.looseObject({
  wallet: string('Wallet of the account.'),
  username: nullable(z.string(), 'Launchpad username.'),
  bio: nullable(z.string(), 'Profile text written by the user.'),
  profileImage: nullable(z.string(), 'Avatar URL.'),
  xUsername: nullable(z.string(), 'Linked X handle.'),
  isVerified: nullable(z.boolean(), 'Whether the launchpad marks the account as verified.'),
  isLaunchpadUser: nullable(
    z.boolean(),
    'False for a wallet that traded without creating an account.',
  ),
  followers: nullable(z.int(), 'Number of followers.'),
  following: nullable(z.int(), 'Number of accounts that this account follows.'),
  groupBadges: field(z.array(z.string()), 'Badges of the groups the account belongs to.'),
});
export type LaunchpadUser = z.infer<typeof LaunchpadUser>;

export const Callout = z.looseObject({
  id: string('Callout id; use it to detect duplicates and as the cursor of the next page.'),
  wallet: string('Wallet of the author, which identifies the author.'),
  userName: nullable(z.string(), "Author's launchpad username."),
  xUsername: nullable(z.string(), "Author's linked X handle."),
  isVerified: nullable(z.boolean(), 'Whether the launchpad marks the author as verified.'),
  coinMint: string('Mint address of the coin.'),
  chain: nullable(z.string(), 'Chain of the coin.'),
  coinSymbol: nullable(z.string(), 'Ticker.'),
  coinName: nullable(z.string(), 'Name of the coin.'),
  thesis: nullable(z.string(), 'The text of the callout.'),
  mediaUrl: nullable(z.string(), 'URL of the attached image or video.'),
  calledOutAtMcap: nullable(z.number(), 'Market cap in USD when posted.'),
  multiple: nullable(z.number(), 'Price move since the callout, as a multiplier.'),
  maxMultiplier: nullable(z.number(), 'Best price move since the callout, as a multiplier.'),
  createdAt: nullable(z.int(), 'Post time, epoch ms.'),
});
export type Callout = z.infer<typeof Callout>;

/** A callout as trdr prints it. */
export const ListedCallout = z.looseObject({ ...Callout.shape, ...observed });
/** The same with --cooldown. */
export const CooledCallout = z.looseObject({ ...ListedCallout.shape, ...cooled });

export const CalloutPage = z.looseObject({
  count: int('Number of items in this page.', { minimum: 0, maximum: CALLOUT_PAGE }),
  hasMore: boolean('Whether older callouts exist after this page.'),
  nextBefore: nullable(
    z.string(),
    'Id of the oldest item, for the next page; null on the last page.',
  ),
  items: field(z.array(Callout), 'The callouts, newest first.'),
});

export const boardPeriods = ['daily', 'weekly', 'monthly'] as const;
export type BoardPeriod = (typeof boardPeriods)[number];

export const BoardEntry = z.looseObject({
  rank: int('Position on the leaderboard, 1 is highest.', { minimum: 1 }),
  wallet: string('Wallet of the trader.'),
  username: nullable(z.string(), 'Launchpad username.'),
  isVerified: nullable(z.boolean(), 'Whether the launchpad marks the account as verified.'),
  pnlSol: nullable(z.number(), 'Realized plus unrealized PnL in SOL.'),
  pnlUsd: nullable(z.number(), 'Realized plus unrealized PnL in USD.'),
  pnlPercent: nullable(z.number(), 'Realized plus unrealized PnL in percent.'),
  realizedPnlUsd: nullable(z.number(), 'Realized PnL in USD.'),
  unrealizedPnlUsd: nullable(z.number(), 'Unrealized PnL in USD.'),
});
export type BoardEntry = z.infer<typeof BoardEntry>;

export const Board = z.looseObject({
  period: string('daily, weekly or monthly.'),
  capturedAt: nullable(z.int(), 'Snapshot time, epoch ms.'),
  count: int('Number of entries.'),
  entries: field(z.array(BoardEntry), 'The traders, best first.'),
});
export type Board = z.infer<typeof Board>;
