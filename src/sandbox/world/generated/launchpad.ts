import { BOARD_SIZE } from '../../../contract/limits.ts';
import {
  type Board,
  type BoardPeriod,
  boardPeriods,
  type Callout,
  type LaunchpadUser,
} from '../../../contract/records/launchpad.ts';
import { below, pick, pickEarly, type Random, randomHex, randomSolana, round2 } from '../../random.ts';
import { fixedTraders } from './fixed-traders.ts';
import { thesisText } from './texts.ts';
import { postTimes } from './theses.ts';
import { makeTokens } from './tokens.ts';
import type { Trader } from './traders.ts';
import { bios, firsts, seconds, unusualNames } from './words.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ACCOUNTS = 250;

/** Makes the accounts. Some of them have the verified Solana wallet of a trader. */
export function makeAccounts(random: Random, traders: readonly Trader[]): LaunchpadUser[] {
  const linked = traders.filter(
    ({ persona, user }, place) =>
      user.solanaAddress !== null && !persona.idle && (place < fixedTraders.length || place % 4 === 0),
  );
  return Array.from({ length: ACCOUNTS }, (_, index): LaunchpadUser => {
    const trader = linked[index];
    const plain = `${pick(random, seconds)}${pick(random, firsts)}${below(random, 100)}`;
    const wallet = trader?.user.solanaAddress ?? randomSolana(random);
    if (!trader && random() < 0.1) return strangerOf(wallet);
    return {
      wallet,
      username: trader?.user.handle ?? (random() < 0.05 ? pick(random, unusualNames) : plain),
      bio: random() < 0.3 ? null : pick(random, bios),
      profileImage: random() < 0.2 ? null : `https://images.example/launchpad/${randomHex(random, 8)}.png`,
      xUsername: trader ? trader.x : random() < 0.5 ? plain.slice(0, 15) : null,
      isVerified: random() < 0.06 ? null : random() < 0.2,
      isLaunchpadUser: random() < 0.03 ? null : true,
      followers: below(random, random() < 0.1 ? 50_000 : 400),
      following: random() < 0.05 ? null : below(random, 300),
      groupBadges: ['early', 'creator', 'whale', 'mod', '東京 club'].filter(() => random() < 0.2),
    };
  });
}

/** A wallet that traded without creating an account. */
const strangerOf = (wallet: string): LaunchpadUser => ({
  wallet,
  username: null,
  bio: null,
  profileImage: null,
  xUsername: null,
  isVerified: null,
  isLaunchpadUser: false,
  followers: null,
  following: null,
  groupBadges: [],
});

export function makeCallouts(
  random: Random,
  accounts: readonly LaunchpadUser[],
  count: number,
  now: number,
): Callout[] {
  const authors = accounts.filter(({ isLaunchpadUser }) => isLaunchpadUser !== false);
  const coins = makeTokens().filter(({ network }) => network === 'sol');
  return postTimes(random, count, now, 60 * DAY).map((createdAt) => {
    const { wallet, username, xUsername, isVerified } = pickEarly(random, authors);
    const { address, network, symbol, name, marketCap } = pickEarly(random, coins);
    // A callout has had more time to rise or fall, the older it is.
    const reach = Math.min(1, (now - createdAt) / (2 * DAY));
    const best = 1 + reach * 9 * random() ** 4;
    const isPriced = random() > 0.03;
    return {
      id: randomHex(random, 24),
      wallet,
      userName: username,
      xUsername,
      isVerified,
      coinMint: address,
      chain: random() < 0.03 ? null : network,
      coinSymbol: symbol,
      coinName: name,
      thesis: thesisText(random, symbol, false, false),
      mediaUrl: random() < 0.2 ? `https://images.example/media/${randomHex(random, 8)}.png` : null,
      calledOutAtMcap: isPriced ? round2(marketCap * (0.7 + 0.6 * random())) : null,
      multiple: isPriced ? round2(best * (1 - reach * 0.9 * random())) : null,
      maxMultiplier: isPriced ? round2(best) : null,
      createdAt,
    };
  });
}

/** The period of a board and the time between its snapshots, in days. */
const periods: Readonly<Record<BoardPeriod, { readonly span: number; readonly every: number }>> = {
  daily: { span: 1, every: 0.25 },
  weekly: { span: 7, every: 1 },
  monthly: { span: 30, every: 2 },
};
const SNAPSHOTS = 20;

export function makeBoards(random: Random, accounts: readonly LaunchpadUser[], now: number): Board[] {
  const traders = accounts.map(({ wallet, username, isVerified }) => ({
    shown: { wallet, username, isVerified },
    size: 40 + 60_000 * random() ** 4,
    phase: 100 * random(),
    hasPercent: random() > 0.07,
  }));
  return boardPeriods.flatMap((period) => {
    const { span, every } = periods[period];
    return Array.from({ length: SNAPSHOTS }, (_, back): Board => {
      const capturedAt = (Math.floor(now / (every * DAY)) - back) * every * DAY;
      // The periods of neighboring snapshots overlap, so their values are points of a smooth curve.
      const place = (2 * capturedAt) / (span * DAY);
      const results = traders.map(({ shown, size, phase, hasPercent }) => {
        const weight = size * Math.sqrt(span);
        const realized = round2(weight * (0.2 + Math.sin(place + phase)));
        const unrealized = round2(weight * 0.6 * Math.sin(2 * place + 3 * phase));
        const total = round2(realized + unrealized);
        return {
          shown,
          realized,
          unrealized,
          total,
          percent: hasPercent ? round2((total / weight) * 59) : null,
        };
      });
      results.sort((one, other) => other.total - one.total);
      const entries = results
        .slice(0, BOARD_SIZE)
        .map(({ shown, realized, unrealized, total, percent }, row) => ({
          rank: row + 1,
          ...shown,
          pnlSol: round2(total / 160),
          pnlUsd: total,
          pnlPercent: percent,
          realizedPnlUsd: realized,
          unrealizedPnlUsd: unrealized,
        }));
      return { period, capturedAt, count: entries.length, entries };
    });
  });
}
