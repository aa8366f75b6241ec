import * as z from 'zod/mini';
import { field, loose, nullable } from '../field.ts';

export const windowNames = ['24h', '7d', '30d', 'all'] as const;
export type WindowName = (typeof windowNames)[number];

/** One window of a trader's numbers. `netUsd` is cash flow, not realized profit. */
export const PnlWindow = z.looseObject({
  netUsd: field(z.number(), 'Cash flow: received on sells minus paid on buys, USD.'),
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
  handle: z.string(),
  displayName: loose(z.string()),
  avatarUrl: loose(z.string()),
  twitter: field(loose(z.string()), 'Bare X username.'),
  followers: loose(z.int()),
  wallet: field(nullable(z.string()), 'Solana address the numbers include; null: no verified one is held.'),
  evmWallet: field(nullable(z.string()), 'EVM address the numbers include.'),
  updatedAt: field(nullable(z.int()), 'Epoch ms of the last refresh.'),
  windows: z.looseObject({
    '24h': nullable(PnlWindow),
    '7d': nullable(PnlWindow),
    '30d': nullable(PnlWindow),
    all: nullable(PnlWindow),
  }),
});
export type Pnl = z.infer<typeof Pnl>;

/** The answer of the batch call. */
export const PnlBatch = z.looseObject({
  count: field(z.int(), 'Handles held.'),
  missing: field(z.array(z.string()), 'Requested handles not held, lower-cased, without @.'),
  entries: field(z.array(Pnl), 'In the order requested.'),
});
export type PnlBatch = z.infer<typeof PnlBatch>;
