import * as z from 'zod/mini';
import {
  boolean,
  booleanOrNull,
  field,
  floatOrNull,
  int,
  intOrNull,
  string,
  stringOrNull,
} from '../field.ts';
import { CALLOUT_PAGE } from '../limits.ts';
import { cooled, observed } from './provenance.ts';

export const LaunchpadUser = z.looseObject({
  wallet: string('Wallet of the account.'),
  username: stringOrNull('Launchpad username.'),
  bio: stringOrNull('Profile text written by the user.'),
  profileImage: stringOrNull('Avatar URL.'),
  xUsername: stringOrNull('Linked X handle.'),
  isVerified: booleanOrNull('Whether the launchpad marks the account as verified.'),
  isLaunchpadUser: booleanOrNull('False for a wallet that traded without creating an account.'),
  followers: intOrNull('Number of followers.'),
  following: intOrNull('Number of accounts that this account follows.'),
  groupBadges: field(z.array(z.string()), 'Badges of the groups the account belongs to.'),
});
export type LaunchpadUser = z.infer<typeof LaunchpadUser>;

export const Callout = z.looseObject({
  id: string('Callout id; use it to detect duplicates and as the cursor of the next page.'),
  wallet: string('Wallet of the author, which identifies the author.'),
  userName: stringOrNull("Author's launchpad username."),
  xUsername: stringOrNull("Author's linked X handle."),
  isVerified: booleanOrNull('Whether the launchpad marks the author as verified.'),
  coinMint: string('Mint address of the coin.'),
  chain: stringOrNull('Chain of the coin.'),
  coinSymbol: stringOrNull('Ticker.'),
  coinName: stringOrNull('Name of the coin.'),
  thesis: stringOrNull('The text of the callout.'),
  mediaUrl: stringOrNull('URL of the attached image or video.'),
  calledOutAtMcap: floatOrNull('Market cap in USD when posted.'),
  multiple: floatOrNull('Price move since the callout, as a multiplier.'),
  maxMultiplier: floatOrNull('Best price move since the callout, as a multiplier.'),
  createdAt: intOrNull('Post time, epoch ms.'),
});
export type Callout = z.infer<typeof Callout>;

/** A callout as trdr prints it. */
export const ListedCallout = z.looseObject({ ...Callout.shape, ...observed });
/** The same with --cooldown. */
export const CooledCallout = z.looseObject({ ...ListedCallout.shape, ...cooled });

export const CalloutPage = z.looseObject({
  count: int('Number of items in this page.', { minimum: 0, maximum: CALLOUT_PAGE }),
  hasMore: boolean('Whether older callouts exist after this page.'),
  nextBefore: stringOrNull('Id of the oldest item, for the next page; null on the last page.'),
  items: field(z.array(Callout), 'The callouts, newest first.'),
});

export const boardPeriods = ['daily', 'weekly', 'monthly'] as const;
export type BoardPeriod = (typeof boardPeriods)[number];

export const BoardEntry = z.looseObject({
  rank: int('Position on the leaderboard, 1 is highest.', { minimum: 1 }),
  wallet: string('Wallet of the trader.'),
  username: stringOrNull('Launchpad username.'),
  isVerified: booleanOrNull('Whether the launchpad marks the account as verified.'),
  pnlSol: floatOrNull('Realized plus unrealized PnL in SOL.'),
  pnlUsd: floatOrNull('Realized plus unrealized PnL in USD.'),
  pnlPercent: floatOrNull('Realized plus unrealized PnL in percent.'),
  realizedPnlUsd: floatOrNull('Realized PnL in USD.'),
  unrealizedPnlUsd: floatOrNull('Unrealized PnL in USD.'),
});
export type BoardEntry = z.infer<typeof BoardEntry>;

export const Board = z.looseObject({
  period: string('daily, weekly or monthly.'),
  capturedAt: intOrNull('Snapshot time, epoch ms.'),
  count: int('Number of entries.'),
  entries: field(z.array(BoardEntry), 'The traders, best first.'),
});
export type Board = z.infer<typeof Board>;
