import type { Callout, LaunchpadUser } from '../../contract/records/launchpad.ts';
import type { Thesis } from '../../contract/records/thesis.ts';
import type { User } from '../../contract/records/user.ts';
import {
  below,
  pick,
  type Random,
  randomEvm,
  randomHex,
  randomOf,
  randomSolana,
  randomUuid,
  round2,
} from '../random.ts';
import { cashtagOf, hostileTexts, thesisText, tickers } from './texts.ts';
import type { Trader } from './traders.ts';

const DAY = 86_400_000;

interface Token {
  readonly address: string;
  readonly network: string;
  readonly symbol: string | null;
  readonly price: number;
  readonly marketCap: number;
}

/**
 * The tokens, most popular first. They are the same in every world, so that docs can refer to them.
 */
function makeTokens(): Token[] {
  const random = randomOf(0, 'tokens');
  return [...tickers, null, ...tickers.map((ticker) => `${ticker}2`)].map((symbol, index) => {
    const network = networkOf(index);
    return {
      address: network === 'sol' ? randomSolana(random) : randomEvm(random),
      network,
      symbol,
      price: 0.00001 + 60 * random() ** 6,
      marketCap: 20_000 + 4e7 * random() ** 6,
    };
  });
}

function networkOf(index: number): string {
  if (index % 3 !== 1) return 'sol';
  return index % 2 === 0 ? 'eth' : 'base';
}

/** The service may send null in any field, so some records have none of these. */
function sparse<T>(random: Random, record: T, ...names: readonly (keyof T)[]): T {
  const missing = names.filter(() => random() < 0.03);
  if (missing.length === 0) return record;
  return { ...record, ...Object.fromEntries(missing.map((name) => [name, null])) };
}

/**
 * Ascending times until `now`, ever closer to each other, as on a growing platform. Some are the
 * same.
 */
function postTimes(random: Random, count: number, now: number, span: number): number[] {
  let last = 0;
  return Array.from({ length: count }, (_, index) => {
    const left = (count - index - random()) / count;
    if (random() > 0.02 || index === 0) last = Math.floor(now - span * left * left);
    return last;
  });
}

export function makeTheses(
  random: Random,
  traders: readonly Trader[],
  count: number,
  now: number,
): Thesis[] {
  const authors = traders.filter(({ isIdle }) => !isIdle);
  const tokens = makeTokens();
  return postTimes(random, count, now, 90 * DAY).map((time, index) => {
    const { user } = pickEarly(random, authors);
    // The oldest posts have no time, but keep their place in the order: clients must not lose them.
    const platformCreatedAt = index < count / 1_000 ? null : time;
    return thesisBy(random, user, pickEarly(random, tokens), { time, platformCreatedAt, now });
  });
}

interface PostTimes {
  readonly time: number;
  readonly platformCreatedAt: number | null;
  readonly now: number;
}

/** The longest time for which a position that was closed was open. */
const LONGEST_HELD = 3 * DAY;

/** When the position of a post was closed: soon after it, or some days later. */
function closeOf(id: string, { time, now }: PostTimes): number {
  const share = Number.parseInt(id.slice(0, 6), 16) / 2 ** 24;
  return Math.min(now, time + Math.round(LONGEST_HELD * share ** 3));
}

function thesisBy(random: Random, user: User, token: Token, times: PostTimes): Thesis {
  const { address, network, symbol, price } = token;
  const { time, platformCreatedAt } = times;
  const isOpen = random() < 0.6;
  const thesis =
    user.handle === 'evil' ? pick(random, hostileTexts) : thesisText(random, symbol, !isOpen);
  const required = {
    id: randomUuid(random),
    tokenAddress: address,
    authorHandle: user.handle,
    thesis,
    platformCreatedAt,
  };
  // A record with the required fields alone is valid too.
  if (random() < 0.01) return sparse(random, required, 'authorHandle');
  const tradeUsd = round2(5 + 3_000 * random() ** 3);
  const holdingsUsd = isOpen ? round2(tradeUsd * (1 + 3 * random())) : 0;
  const closedAt = isOpen ? null : closeOf(required.id, times);
  const realized = isOpen && random() < 0.8 ? null : profitOf(random, tradeUsd);
  const unrealized = isOpen ? profitOf(random, holdingsUsd) : null;
  // Written out, because thousands of spread objects would double the time of each start.
  const full = {
    id: required.id,
    tokenAddress: address,
    authorHandle: user.handle,
    thesis,
    platformCreatedAt,
    tokenNetwork: network,
    tokenSymbol: symbol,
    authorId: user.id,
    authorName: user.name,
    authorIsDev: random() < 0.02,
    segments: segmentsOf(thesis, token),
    likeCount: below(random, random() < 0.06 ? 4_000 : 40),
    holdingsUsd,
    authorTradeUsd: tradeUsd,
    pnl: (realized ?? unrealized)?.usd ?? null,
    realizedPnlUsd: realized?.usd ?? null,
    unrealizedPnlUsd: unrealized?.usd ?? null,
    percentageRealizedPnl: realized?.pct ?? null,
    percentageUnrealizedPnl: unrealized?.pct ?? null,
    tokenAmount: Number((holdingsUsd / price).toFixed(6)),
    closedAt,
    updatedAt: closedAt ?? time,
  };
  return sparse(
    random,
    full,
    'tokenNetwork',
    'authorIsDev',
    'segments',
    'likeCount',
    'holdingsUsd',
    'tokenAmount',
  );
}

/** Percent and amount agree: both are of what was paid. */
function profitOf(random: Random, usd: number) {
  const pct = round2(-60 + 240 * random() ** 2);
  return { pct, usd: round2((usd * pct) / (100 + pct)) };
}

/** The text, with a link wherever it names the token. */
function segmentsOf(thesis: string | null, { symbol, address }: Token): Thesis['segments'] {
  if (thesis === null) return null;
  if (symbol === null) return [{ text: thesis }];
  const text = cashtagOf(symbol);
  const link = `https://platform.example/token/${address}`;
  return thesis
    .split(text)
    .flatMap((part, at) => (at === 0 ? { text: part } : [{ text, link }, { text: part }]));
}

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
    const { address, network, symbol, marketCap } = pickEarly(random, coins);
    // A callout has had more time to rise or fall, the older it is.
    const reach = Math.min(1, (now - createdAt) / (2 * DAY));
    const best = 1 + reach * 9 * random() ** 4;
    const callout = {
      id: randomHex(random, 24),
      wallet,
      userName: username,
      xUsername,
      isVerified,
      coinMint: address,
      chain: network,
      coinSymbol: symbol,
      coinName: symbol && `${symbol} ${pick(random, ['Coin', 'Token', 'Cash'])}`,
      thesis: thesisText(random, symbol, false),
      mediaUrl: `https://images.example/media/${randomHex(random, 8)}.png`,
      calledOutAtMcap: round2(marketCap * (0.7 + 0.6 * random())),
      multiple: round2(best * (1 - reach * 0.9 * random())),
      maxMultiplier: round2(best),
      createdAt,
    };
    return sparse(
      random,
      callout,
      'chain',
      'mediaUrl',
      'calledOutAtMcap',
      'multiple',
      'maxMultiplier',
    );
  });
}

/** A random item of a list; the first ones are the most likely. */
const pickEarly = <T>(random: Random, list: readonly T[]): T =>
  pick(() => random() * random(), list);
