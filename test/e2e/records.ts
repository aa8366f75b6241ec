/** A valid answer of each kind, for services that change it. */

export const USER_ID = '7d0a0f3e-7a55-4c0e-9a36-6f0f5f0e8f10';
export const WALLET = '8BnEgHoWFysVcuFFX7QztDmzuH8r5ZFvyP3sYwn1XTh6';
const MINT = '11111111111111111111111111111111';

export const user = {
  id: USER_ID,
  handle: 'mira',
  name: 'Mira',
  bio: 'Three chains.',
  banner: null,
  profilePicture: 'https://images.example/a.png',
  twitter: 'https://x.com/mira',
  solanaAddress: WALLET,
  evmAddress: null,
  socials: [{ provider: 'x', subject: '12', handle: 'mira' }],
};
const window = (rank: number) => ({ netUsd: 12.5, returnPct: -3, volumeUsd: 800, trades: 4, rank });
export const numbers = (handle: string) => ({
  handle,
  displayName: 'Mira',
  avatarUrl: null,
  twitter: 'mira',
  followers: 9,
  wallet: WALLET,
  evmWallet: null,
  updatedAt: 1_760_000_000_000,
  windows: { '24h': window(1), '7d': null, '30d': window(3), all: window(2) },
});
export const callout = (at: number) => ({
  id: `c${at}`,
  wallet: WALLET,
  userName: 'mira',
  xUsername: null,
  isVerified: true,
  coinMint: MINT,
  chain: 'sol',
  coinSymbol: 'WIF',
  coinName: null,
  thesis: 'up',
  mediaUrl: null,
  calledOutAtMcap: 12_000,
  multiple: 1.5,
  maxMultiplier: 3,
  createdAt: 1_760_000_000_000 - at * 1000,
});
const entry = (rank: number) => ({
  rank,
  wallet: `${WALLET.slice(0, -2)}${String(rank).padStart(2, '1')}`,
  username: 'mira',
  isVerified: true,
  pnlSol: 2,
  pnlUsd: 300 - rank,
  pnlPercent: 4,
  realizedPnlUsd: 5,
  unrealizedPnlUsd: 6,
});
export const launchpadUser = {
  wallet: WALLET,
  username: 'mira',
  bio: null,
  profileImage: null,
  xUsername: 'mira',
  isVerified: true,
  isLaunchpadUser: true,
  followers: 3,
  following: 4,
  groupBadges: ['og'],
};
export const page = (items: readonly unknown[]) => ({
  count: items.length,
  hasMore: false,
  nextBefore: null,
  updatedAt: 1_760_000_000_000,
  items,
});

export const thesis = (at: number) => ({
  id: `t${at}`,
  tokenAddress: MINT,
  tokenNetwork: 'sol',
  tokenSymbol: 'WIF',
  authorId: USER_ID,
  authorHandle: 'mira',
  authorName: null,
  authorIsDev: false,
  thesis: 'up\nonly',
  segments: [{ text: 'up', link: 'https://x.com' }],
  likeCount: 4,
  holdingsUsd: 900.5,
  authorTradeUsd: 100,
  pnl: -4,
  tokenAmount: 12,
  closedAt: null,
  platformCreatedAt: 1_760_000_000_000 - at * 1000,
  updatedAt: 1_760_000_000_000,
});

export const batch = () => ({
  count: 3,
  missing: ['nosuch'],
  entries: ['mira', 'quiet', 'solwolf'].map(numbers),
});
export const board = () => ({
  period: 'weekly',
  capturedAt: 1_760_000_000_000,
  count: 3,
  entries: [1, 2, 3].map(entry),
});

export const pending = {
  pending: true,
  reason: 'queued',
  retryable: true,
  retryAfterSeconds: 4,
  position: 2,
};
