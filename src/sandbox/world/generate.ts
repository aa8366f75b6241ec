import { once } from '../../base/calls.ts';
import { BOARD_SIZE } from '../../contract/limits.ts';
import {
  type Board,
  type BoardEntry,
  boardPeriods,
  type LaunchpadUser,
} from '../../contract/records/launchpad.ts';
import { below, pick, type Random, randomHex, randomOf, randomSolana, round2 } from '../random.ts';
import { TERM_MS } from './people.ts';
import { makeCallouts, makeTheses } from './posts.ts';
import type { Identity, WorldRecords } from './source.ts';
import { bios, firsts, seconds, unusualNames } from './texts.ts';
import { makeNumbers, makeTraders, type Trader } from './traders.ts';

export interface WorldSize {
  readonly traders?: number | undefined;
  readonly theses?: number | undefined;
}

/**
 * Generates the records of a world whose history ends at `now`. The same arguments give the same
 * records.
 */
export function generateRecords(seed: number, now: number, size: WorldSize = {}): WorldRecords {
  const { traders: wanted = 300, theses: count = 2_000 } = size;
  const traders = makeTraders(seed, wanted);
  const accounts = () => makeAccounts(randomOf(seed, 'accounts'), traders);
  return {
    users: traders.map(({ user }) => user),
    unverified: new Map(
      traders.flatMap(({ user, proven, plan }) => (plan ? [[user.id, { ...proven, plan }]] : [])),
    ),
    identitiesAt: (time) => identitiesAt(traders, Math.floor((time - now) / TERM_MS)),
    samples: new Set(traders.flatMap(({ user, isSample }) => (isSample ? user.id : []))),
    numbers: () => makeNumbers(randomOf(seed, 'trading numbers'), traders, now),
    theses: () => makeTheses(randomOf(seed, 'theses'), traders, count, now),
    accounts,
    callouts: () =>
      makeCallouts(randomOf(seed, 'callouts'), accounts(), Math.max(500, count / 10), now),
    boards: () => makeBoards(randomOf(seed, 'boards'), accounts(), now),
  };
}

/**
 * Everybody is who they were at the start in even terms, so that a change can be rehearsed again
 * and again.
 */
function identitiesAt(traders: readonly Trader[], term: number): Map<string, Identity> {
  return new Map(
    traders.flatMap((trader) => {
      const { user, handle, proven, other } = trader;
      if (!other) return [];
      const identity = term % 2 === 0 ? { handle, ...proven } : other;
      return [[user.id, identity]];
    }),
  );
}

const ACCOUNTS = 250;

/**
 * The first accounts have the verified Solana wallets of traders, the last ones those of people
 * with given names.
 */
function makeAccounts(random: Random, traders: readonly Trader[]): LaunchpadUser[] {
  const linked = traders
    .filter(({ user, isIdle }) => user.solanaAddress !== null && !isIdle)
    .slice(0, 80);
  const accounts = Array.from({ length: ACCOUNTS }, (_, index): LaunchpadUser => {
    const user = linked[index]?.user;
    const name =
      user?.handle ?? `${pick(random, seconds)}${pick(random, firsts)}${below(random, 100)}`;
    const account = accountOf(random, user?.solanaAddress ?? randomSolana(random), name, !user);
    return user || random() > 0.1 ? account : { ...account, ...noAccount };
  });
  const named = traders.flatMap(({ proven, launchpad }) =>
    launchpad && proven.solanaAddress !== null
      ? { ...accountOf(random, proven.solanaAddress, '', false), ...launchpad }
      : [],
  );
  return [...accounts, ...named];
}

function accountOf(
  random: Random,
  wallet: string,
  name: string,
  mayBeUnusual: boolean,
): LaunchpadUser {
  return {
    wallet,
    username: mayBeUnusual && random() < 0.05 ? pick(random, unusualNames) : name,
    bio: random() < 0.3 ? null : pick(random, bios),
    profileImage:
      random() < 0.2 ? null : `https://images.example/launchpad/${randomHex(random, 8)}.png`,
    xUsername: random() < 0.5 ? name.replace(/\W/g, '').slice(0, 15) : null,
    isVerified: random() < 0.06 ? null : random() < 0.2,
    isLaunchpadUser: random() < 0.03 ? null : true,
    followers: below(random, random() < 0.1 ? 50_000 : 400),
    following: random() < 0.05 ? null : below(random, 300),
    groupBadges: ['early', 'creator', 'whale', 'mod', '東京 club'].filter(() => random() < 0.2),
  };
}

/** What a wallet has that traded without creating an account. */
const noAccount = {
  username: null,
  bio: null,
  profileImage: null,
  xUsername: null,
  isVerified: null,
  isLaunchpadUser: false,
  followers: null,
  following: null,
  groupBadges: [],
};

const DAY = 86_400_000;
/** The period of a board, the time between its snapshots, and how far back they go, in days. */
const periods = { daily: [1, 0.25, 60], weekly: [7, 1, 400], monthly: [30, 2, 400] } as const;

interface Rated extends Pick<BoardEntry, 'wallet' | 'username' | 'isVerified'> {
  readonly size: number;
  readonly phase: number;
  readonly hasPercent: boolean;
}

function makeBoards(random: Random, accounts: readonly LaunchpadUser[], now: number): Board[] {
  const traders = accounts.map(({ wallet, username, isVerified }) => ({
    wallet,
    username,
    isVerified,
    size: 40 + 60_000 * random() ** 4,
    phase: 100 * random(),
    hasPercent: random() > 0.07,
  }));
  return boardPeriods.flatMap((period) => {
    const [span, every, days] = periods[period];
    return Array.from({ length: days / every }, (_, back): Board => {
      const capturedAt = (Math.floor(now / (every * DAY)) - back) * every * DAY;
      // Few of the many snapshots are ever requested.
      const entries = once(() => entriesAt(capturedAt, span, traders));
      return {
        period,
        capturedAt,
        get count() {
          return entries().length;
        },
        get entries() {
          return entries();
        },
      };
    });
  });
}

/** The periods of neighboring snapshots overlap, so their values are points of a smooth curve. */
function entriesAt(capturedAt: number, span: number, traders: readonly Rated[]): BoardEntry[] {
  const place = (2 * capturedAt) / (span * DAY);
  const results = traders.map(({ size, phase, hasPercent, ...shown }) => {
    const weight = size * Math.sqrt(span);
    const realizedPnlUsd = round2(weight * (0.2 + Math.sin(place + phase)));
    const unrealizedPnlUsd = round2(weight * 0.6 * Math.sin(2 * place + 3 * phase));
    const pnlUsd = round2(realizedPnlUsd + unrealizedPnlUsd);
    const pnlPercent = hasPercent ? round2((pnlUsd / weight) * 59) : null;
    const pnlSol = round2(pnlUsd / 160);
    return { ...shown, pnlSol, pnlUsd, pnlPercent, realizedPnlUsd, unrealizedPnlUsd };
  });
  return results
    .toSorted((one, other) => other.pnlUsd - one.pnlUsd)
    .slice(0, BOARD_SIZE)
    .map((entry, row) => ({ rank: row + 1, ...entry }));
}
