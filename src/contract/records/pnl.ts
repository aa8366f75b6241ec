import * as z from 'zod/mini';
import {
  field,
  float,
  floatOrNull,
  int,
  intOrNull,
  loose,
  nullable,
  string,
  stringOrNull,
} from '../field.ts';

export const windowNames = ['24h', '7d', '30d', 'all'] as const;
export type WindowName = (typeof windowNames)[number];

/** A trader's numbers over one time window. `netUsd` is cash flow, not realized profit. */
export const PnlWindow = z.looseObject({
  netUsd: float('USD received for sells minus USD paid for buys. Cash flow, not realized profit.'),
  returnPct: floatOrNull(
    'netUsd as a percentage of the USD paid for buys; null when nothing was bought.',
  ),
  volumeUsd: float('USD of buys plus USD of sells.'),
  trades: int('Number of swaps in the window.'),
  rank: int('Rank by netUsd, 1 is highest; ties share a rank.', { minimum: 1 }),
});
export type PnlWindow = z.infer<typeof PnlWindow>;

export const PnlWindows = z.looseObject({
  '24h': nullable(PnlWindow, 'The last 24 hours; null if there was no trade on the platform.'),
  '7d': nullable(PnlWindow, 'The last 7 days; null if there was no trade on the platform.'),
  '30d': nullable(PnlWindow, 'The last 30 days; null if there was no trade on the platform.'),
  all: nullable(PnlWindow, 'All time; null if there was no trade on the platform.'),
});

export const Pnl = z.looseObject({
  handle: string('Handle of the trader.'),
  displayName: loose(z.string(), 'Display name.'),
  avatarUrl: loose(z.string(), 'Avatar URL.'),
  twitter: loose(z.string(), 'X username, without a URL.'),
  followers: loose(z.int(), 'Number of followers.'),
  wallet: stringOrNull(
    'Solana address whose trades the numbers include; null if no verified Solana wallet is on record.',
  ),
  evmWallet: stringOrNull(
    'EVM address whose trades on all EVM chains the numbers include; null if no verified EVM wallet is on record.',
  ),
  updatedAt: intOrNull('When the numbers were last refreshed, epoch ms.'),
  windows: field(
    PnlWindows,
    'The numbers of four windows; all of them null if the service has no data for the wallets.',
  ),
});
export type Pnl = z.infer<typeof Pnl>;

export const PnlBatch = z.looseObject({
  count: int('Number of entries: the handles that were found.'),
  missing: field(
    z.array(z.string()),
    'Requested handles that were not found, lower-cased and without @.',
  ),
  entries: field(z.array(Pnl), 'The numbers, in the order of the request.'),
});
