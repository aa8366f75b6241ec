import type { User } from '../../contract/records/user.ts';
import { randomOf, randomSolana } from '../random.ts';
import type { ResolvePlan } from './source.ts';
import { hostileTexts } from './texts.ts';

export type Wallets = Pick<User, 'solanaAddress' | 'evmAddress'>;

/**
 * Names that a launchpad account shows. Nobody checks them, so they can be those of somebody else.
 */
export interface LaunchpadNames {
  readonly username: string | null;
  readonly xUsername: string | null;
}

export interface Persona {
  readonly handle: string;
  readonly name?: string | null;
  readonly bio?: string | null;
  /** Absent unless the service has enabled them, so most traders have none. */
  readonly socials?: User['socials'];
  /** Both wallets exist by default. */
  readonly wallets?: Wallets | 'solana' | 'evm';
  /** The result of a live resolve. The wallets of traders without a plan are verified. */
  readonly plan?: ResolvePlan;
  readonly isSample?: boolean;
  /** Whether the trader never trades and never posts. */
  readonly isIdle?: boolean;
  /** The launchpad account of the Solana wallet, if it must have these names. */
  readonly launchpad?: LaunchpadNames;
  /**
   * What is different in every second term (`TERM_MS`), so that renames and moves can be rehearsed.
   */
  readonly later?: { readonly handle?: string; readonly wallets?: Wallets };
}

/**
 * How long the people of a world stay as they are: short enough to wait for, longer than most runs.
 */
export const TERM_MS = 120_000;

const solana = (label: string): Wallets => ({
  solanaAddress: randomSolana(randomOf(0, `wallet ${label}`)),
  evmAddress: null,
});

const miraWallets: Wallets = {
  solanaAddress: 'GXGxnQNeLLboiUqKykCDk9m6uaZFSA29V9DZLnCa84pW',
  evmAddress: '0x862A89Bd9c983A2fd04C9Fd25bCf45544C7254b4',
};
const swing = 'Swing trades on three chains. Thesis first.';
const mostHostile = hostileTexts.slice(0, 5).join('\tand\r\n');

/** The most active traders first. */
const traders: readonly Persona[] = [
  { handle: 'mira', name: 'Mira 🌙', bio: swing, wallets: miraWallets, isSample: true },
  {
    handle: 'solwolf',
    name: 'Sol Wolf',
    bio: 'Solana only. awooo 🐺',
    wallets: 'solana',
    socials: [
      { provider: 'x', subject: '1478530000000000001', handle: 'solwolf' },
      { provider: 'telegram', subject: '5550001', handle: 'sol_wolf_old' },
    ],
    isSample: true,
  },
  { handle: '0xMert', name: 'Mert', bio: 'EVM only.', wallets: 'evm', isSample: true },
  { handle: 'evil', name: '\u001b[31mEvil\u001b[0m \u202etxt.exe\u202c', bio: mostHostile },
  {
    handle: 'tokyo',
    name: '東京トレーダー',
    bio: '板読みと気合い。',
    socials: [{ provider: 'youtube', subject: 'UC-tokyo-board', handle: null }],
    isSample: true,
  },
  { handle: 'quantumhawk', bio: 'I buy high so that you can buy higher 🫡' },
  { handle: 'Oracle28', name: 'Turbo Baron', bio: 'charts, coffee, cope ☕️📉', wallets: 'solana' },
  { handle: 'mira_alt', wallets: miraWallets, isIdle: true },
  { handle: 'quiet', name: 'Quiet', wallets: 'solana', isIdle: true },
];

/** What a live resolve of them says. */
const unresolved: readonly Persona[] = [
  { handle: 'nowallet', name: 'No Wallet', plan: { outcome: 'pending', reason: 'no_preview' } },
  { handle: 'slowpoke', name: 'Slowpoke 🐢', plan: { outcome: 'found', ms: 3_000, queue: 2 } },
  { handle: 'throttled', plan: { outcome: 'pending', reason: 'rate_limited' } },
  { handle: 'lateanswer', plan: { outcome: 'pending', reason: 'timeout' } },
  { handle: 'cannotsay', plan: { outcome: 'pending', reason: 'unavailable' } },
  { handle: 'newcomer', plan: { outcome: 'pending', reason: 'not_ingested' } },
];

/** What the launchpad account of their Solana wallet says about who they are. */
const named: readonly Persona[] = [
  {
    handle: 'rightname',
    wallets: solana('rightname'),
    launchpad: { username: 'moonlight', xUsername: 'rightname' },
    isIdle: true,
  },
  {
    handle: 'username_only',
    wallets: solana('username_only'),
    launchpad: { username: 'username_only', xUsername: null },
    isIdle: true,
  },
  {
    handle: 'noname',
    wallets: solana('noname'),
    launchpad: { username: null, xUsername: null },
    isIdle: true,
  },
  {
    handle: 'falsename',
    wallets: solana('falsename'),
    launchpad: { username: 'nobody_has_it', xUsername: 'nobody_has_it' },
    isIdle: true,
  },
  {
    handle: 'borrower',
    wallets: solana('borrower'),
    launchpad: { username: 'rightname', xUsername: 'rightname' },
    isIdle: true,
  },
];

/** One Solana wallet of three users, who differ in their EVM wallets. */
const clubWallet = solana('club').solanaAddress;
const club: readonly Persona[] = [
  {
    handle: 'club_one',
    wallets: { solanaAddress: clubWallet, evmAddress: miraWallets.evmAddress },
    isIdle: true,
  },
  { handle: 'club_two', wallets: solana('club'), isIdle: true },
  { handle: 'club_three', wallets: solana('club'), isIdle: true },
];

/** The people of whom something is different in every second term. */
const changing: readonly Persona[] = [
  {
    handle: 'drifter',
    wallets: solana('drifter'),
    launchpad: { username: 'drifter', xUsername: 'drifter' },
    later: { handle: 'drifter_renamed' },
    isIdle: true,
  },
  {
    handle: 'baton',
    wallets: solana('baton'),
    launchpad: { username: 'baton', xUsername: 'baton' },
    later: { handle: 'baton_before' },
    isIdle: true,
  },
  {
    handle: 'baton_next',
    wallets: solana('baton_next'),
    later: { handle: 'baton' },
    isIdle: true,
  },
  {
    handle: 'giver',
    wallets: solana('handed over'),
    later: { wallets: solana('giver') },
    isIdle: true,
  },
  {
    handle: 'taker',
    wallets: solana('taker'),
    later: { wallets: solana('handed over') },
    isIdle: true,
  },
  {
    handle: 'shy',
    wallets: solana('shy'),
    later: { wallets: { solanaAddress: null, evmAddress: null } },
    isIdle: true,
  },
];

/** These people are in every generated world, so that docs and tests can refer to them. */
export const people: readonly Persona[] = [
  ...traders,
  ...unresolved,
  ...named,
  ...club,
  ...changing,
];
