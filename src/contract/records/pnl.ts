import * as z from 'zod/mini';
import { field, loose, nullable } from '../field.ts';

export const windowNames = ['24h', '7d', '30d', 'all'] as const;
export type WindowName = (typeof windowNames)[number];

/** One window of a trader's numbers. `netUsd` is cash flow, not realized profit. */
export const PnlWindow = z.looseObject({
  netUsd: field(z.number(), 'Received on sells minus paid on buys, USD. Cash flow, not realized profit.'),
  returnPct: field(
    nullable(z.number()),
    'netUsd as a percentage of what was paid on buys; null when nothing was bought.',
  ),
  volumeUsd: field(z.number(), 'Bought plus sold, USD.'),
  trades: field(z.int(), 'Swaps in the window.'),
  rank: field(z.int(), 'Position by netUsd, 1 is highest; ties share a rank.'),
});
export type PnlWindow = z.infer<typeof PnlWindow>;

/** A trader's numbers over four windows. */
export const Pnl = z.looseObject({
  handle: field(z.string(), 'Handle of the trader.'),
  displayName: field(loose(z.string()), 'Display name.'),
  avatarUrl: field(loose(z.string()), 'Avatar URL.'),
  twitter: field(loose(z.string()), 'X username, not a link.'),
  followers: field(loose(z.int()), 'Number of followers.'),
  wallet: field(
    nullable(z.string()),
    'Solana address the numbers include; null means no verified Solana wallet is on record.',
  ),
  evmWallet: field(
    nullable(z.string()),
    'EVM address the numbers include, across every EVM chain; null means none is on record.',
  ),
  updatedAt: field(nullable(z.int()), 'Epoch ms of the last refresh.'),
  windows: field(
    z.looseObject({
      '24h': field(nullable(PnlWindow), 'The last 24 hours; null: no platform trade on record.'),
      '7d': field(nullable(PnlWindow), 'The last 7 days; null: no platform trade on record.'),
      '30d': field(nullable(PnlWindow), 'The last 30 days; null: no platform trade on record.'),
      all: field(nullable(PnlWindow), 'All time; null: no platform trade on record.'),
    }),
    'The numbers of four windows; all null if the service returned nothing for the wallets.',
  ),
});
export type Pnl = z.infer<typeof Pnl>;

/** The answer of the batch call. */
export const PnlBatch = z.looseObject({
  count: field(z.int(), 'Number of entries: the handles that were found.'),
  missing: field(z.array(z.string()), 'Requested handles that were not found, lower-cased, without @.'),
  entries: field(z.array(Pnl), 'In the order requested.'),
});
export type PnlBatch = z.infer<typeof PnlBatch>;
