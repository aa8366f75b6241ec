import * as z from 'zod/mini';
import { field, nullable } from '../field.ts';

export const LaunchpadUser = z.looseObject({
  wallet: field(z.string(), 'Wallet of the account.'),
  username: field(nullable(z.string()), 'Launchpad username.'),
  bio: field(nullable(z.string()), 'Profile text written by the user.'),
  profileImage: field(nullable(z.string()), 'Avatar URL.'),
  xUsername: field(nullable(z.string()), 'Linked X handle.'),
  isVerified: field(nullable(z.boolean()), 'Whether the launchpad marks the account as verified.'),
  isLaunchpadUser: field(
    nullable(z.boolean()),
    'False for a wallet that traded without creating an account.',
  ),
  followers: field(nullable(z.int()), 'Number of followers.'),
  following: field(nullable(z.int()), 'Number of accounts that this account follows.'),
  groupBadges: field(z.array(z.string()), 'Badges of the groups the account belongs to.'),
});
export type LaunchpadUser = z.infer<typeof LaunchpadUser>;

export const Callout = z.looseObject({
  id: field(z.string(), 'Callout id; use it to detect duplicates and as the cursor of the next page.'),
  wallet: field(z.string(), 'Wallet of the author, which identifies the author.'),
  userName: field(nullable(z.string()), "Author's launchpad username."),
  xUsername: field(nullable(z.string()), "Author's linked X handle."),
  isVerified: field(nullable(z.boolean()), 'Whether the launchpad marks the author as verified.'),
  coinMint: field(z.string(), 'Mint address of the coin.'),
  chain: field(nullable(z.string()), 'Chain of the coin.'),
  coinSymbol: field(nullable(z.string()), 'Ticker.'),
  coinName: field(nullable(z.string()), 'Name of the coin.'),
  thesis: field(nullable(z.string()), 'The text of the callout.'),
  mediaUrl: field(nullable(z.string()), 'URL of the attached image or video.'),
  calledOutAtMcap: field(nullable(z.number()), 'Market cap in USD when posted.'),
  multiple: field(nullable(z.number()), 'Price move since the callout, as a multiplier.'),
  maxMultiplier: field(nullable(z.number()), 'Best price move since the callout, as a multiplier.'),
  createdAt: field(nullable(z.int()), 'Post time, epoch ms.'),
});
export type Callout = z.infer<typeof Callout>;

export const CalloutPage = z.looseObject({
  count: field(z.int(), 'Number of items in this page.'),
  hasMore: field(z.boolean(), 'Whether older callouts exist after this page.'),
  nextBefore: field(nullable(z.string()), 'Id of the oldest item, for the next page; null on the last page.'),
  items: field(z.array(Callout), 'The callouts, newest first.'),
});
export type CalloutPage = z.infer<typeof CalloutPage>;

export const boardPeriods = ['daily', 'weekly', 'monthly'] as const;
export type BoardPeriod = (typeof boardPeriods)[number];

const BoardEntry = z.looseObject({
  rank: field(z.int(), 'Position on the leaderboard, 1 is highest.'),
  wallet: field(z.string(), 'Wallet of the trader.'),
  username: field(nullable(z.string()), 'Launchpad username.'),
  isVerified: field(nullable(z.boolean()), 'Whether the launchpad marks the account as verified.'),
  pnlSol: field(nullable(z.number()), 'Realized plus unrealized PnL in SOL.'),
  pnlUsd: field(nullable(z.number()), 'Realized plus unrealized PnL in USD.'),
  pnlPercent: field(nullable(z.number()), 'Realized plus unrealized PnL in percent.'),
  realizedPnlUsd: field(nullable(z.number()), 'Realized PnL in USD.'),
  unrealizedPnlUsd: field(nullable(z.number()), 'Unrealized PnL in USD.'),
});
export type BoardEntry = z.infer<typeof BoardEntry>;

export const Board = z.looseObject({
  period: field(z.string(), 'daily, weekly or monthly.'),
  capturedAt: field(nullable(z.int()), 'Snapshot time, epoch ms.'),
  count: field(z.int(), 'Number of entries.'),
  entries: field(z.array(BoardEntry), 'The traders, best first.'),
});
export type Board = z.infer<typeof Board>;
