import type { Thesis } from '../../../contract/records/thesis.ts';
import { below, pickEarly, type Random, randomUuid, round2 } from '../../random.ts';
import { thesisText } from './texts.ts';
import { makeTokens, type Token } from './tokens.ts';
import type { Trader } from './traders.ts';

const DAY = 86_400_000;
/** The number of theses at one time that do not fit on two pages of 20. */
const BURST = 50;

export function makeTheses(random: Random, traders: readonly Trader[], count: number, now: number): Thesis[] {
  const authors = traders.filter(({ persona }) => !persona.idle);
  const tokens = makeTokens();
  const [sol, evm] = [true, false].map((isSol) =>
    tokens.filter(({ network }) => (network === 'sol') === isSol),
  );
  const tokensOf = ({ persona: { solana, evm: other } }: Trader) =>
    (other === null || (solana !== null && random() < 0.6) ? sol : evm) ?? tokens;
  return postTimes(random, count, now, 90 * DAY).map((postedAt, index) => {
    const author = pickEarly(random, authors);
    const thesis = makeThesis(random, author, pickEarly(random, tokensOf(author)), postedAt, now);
    // The oldest posts have no time.
    return index < count / 1_000 ? { ...thesis, platformCreatedAt: null } : thesis;
  });
}

/**
 * Ascending times until `now`, ever closer to each other, as on a growing platform. Some are the same millisecond: pairs, and
 * one burst.
 */
export function postTimes(random: Random, count: number, now: number, span: number): number[] {
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const fromEnd = count - index;
    const isTied = random() < 0.02 || (fromEnd > 4 * BURST && fromEnd < 5 * BURST);
    const left = (fromEnd - random()) / count;
    const last = times.at(-1);
    times.push(isTied && last !== undefined ? last : Math.floor(now - span * left * left));
  }
  return times;
}

function makeThesis(
  random: Random,
  { user, persona: { handle } }: Trader,
  token: Token,
  postedAt: number,
  now: number,
): Thesis {
  const isSale = random() < 0.4;
  const isHostile = handle === 'evil';
  const text = thesisText(random, token.symbol, isSale, isHostile);
  const id = randomUuid(random);
  const tokenAddress = token.address;
  // Some posts of earlier days have only the required fields.
  if (random() < 0.02 && postedAt < now - DAY)
    return {
      id,
      tokenAddress,
      authorHandle: random() < 0.5 ? null : handle,
      thesis: text,
      platformCreatedAt: postedAt,
    };
  const tradeUsd = round2(5 + 3_000 * random() ** 3);
  // Half of all sales close the position; some positions are closed later.
  const soldAll = isSale && random() < 0.5;
  const closedAt = soldAll ? postedAt : random() < 0.3 ? postedAt + below(random, now - postedAt) : null;
  const holdingsUsd = soldAll ? 0 : round2(tradeUsd * (1 + 3 * random()));
  const realizedPct = isSale || closedAt !== null ? round2(-60 + 240 * random() ** 2) : null;
  const unrealizedPct = closedAt === null ? round2(-60 + 240 * random() ** 2) : null;
  const realized = realizedPct === null ? null : profitIn(isSale ? tradeUsd : holdingsUsd, realizedPct);
  const unrealized = unrealizedPct === null ? null : profitIn(holdingsUsd, unrealizedPct);
  return {
    id,
    tokenAddress,
    tokenNetwork: random() < 0.02 ? null : token.network,
    tokenSymbol: token.symbol,
    authorId: user.id,
    authorHandle: handle,
    authorName: user.name,
    authorIsDev: random() < 0.02 ? null : random() < 0.02,
    thesis: text,
    segments: text === null || random() < 0.06 ? null : segmentsOf(text, token, isHostile),
    likeCount: random() < 0.04 ? null : below(random, random() < 0.06 ? 4_000 : 40),
    holdingsUsd: random() < 0.03 ? null : holdingsUsd,
    authorTradeUsd: tradeUsd,
    pnl: realized ?? unrealized,
    realizedPnlUsd: realized,
    unrealizedPnlUsd: unrealized,
    percentageRealizedPnl: realizedPct,
    percentageUnrealizedPnl: unrealizedPct,
    tokenAmount: random() < 0.02 ? null : Number((holdingsUsd / token.price).toFixed(6)),
    closedAt,
    platformCreatedAt: postedAt,
    updatedAt: closedAt ?? postedAt,
  };
}

/** The profit in an amount of USD that includes it. */
const profitIn = (usd: number, pct: number) => round2((usd * pct) / (100 + pct));

/** The text in rich-text segments, in which the ticker is a link. */
function segmentsOf(text: string, token: Token, isHostile: boolean): NonNullable<Thesis['segments']> {
  if (text === '') return [];
  if (isHostile) return [{ text, link: 'javascript:alert(1)' }];
  const ticker = `$${token.symbol}`;
  const at = text.indexOf(ticker);
  if (at < 0) return [{ text }];
  return [
    { text: text.slice(0, at) },
    { text: ticker, link: `https://platform.example/token/${token.address}` },
    { text: text.slice(at + ticker.length), bold: true },
  ].filter((segment) => segment.text !== '');
}
