import type { Thesis, ThesisFrameData } from '../../../contract/records/thesis.ts';
import { numbered, uuidHead, uuidOf } from '../address.ts';
import { thesisKeys } from '../feed-keys.ts';
import { hash, round2, round6 } from '../hash.ts';
import type { FeedSource } from '../source.ts';
import { groupBy, type TimelineBase } from '../timeline.ts';
import type { ThesisFilter } from '../types.ts';
import type { UserStore } from '../user-store.ts';
import { fixedTraders } from './fixed-traders.ts';
import { SLOTS } from './portfolios.ts';
import type { Holding } from './positions.ts';
import { type ThesisTopic, thesisText } from './texts.ts';
import type { Token, Tokens } from './tokens.ts';
import type { Traders } from './traders.ts';
import { TRADES_PER_THESIS, type Trades } from './trades.ts';

/** The values from which theses are generated. */
export interface ThesisInputs {
  readonly seed: number;
  /** The number of theses in the history. Further ones are posted live. */
  readonly count: number;
  readonly traders: Traders;
  readonly users: UserStore;
  readonly tokens: Tokens;
  readonly trades: Trades;
  /** Called for each live post, with the time of the trade that the post is about. */
  readonly tradeAdded: (time: number) => void;
}

type Segments = NonNullable<Thesis['segments']>;

const salt = { which: 71, text: 72, form: 73, id: 74 };
/**
 * If there are more theses than this, they are grouped by author and token when the history is generated,
 * because grouping them later would delay a response noticeably.
 */
const EAGER_GROUPS = 100_000;
const HOSTILE_AUTHOR = fixedTraders.findIndex(({ handle }) => handle === 'evil');

/**
 * The index of the trade that a thesis is about. The history has one thesis for each pair of trades, about
 * one of the two; each live thesis has a trade of its own.
 * @internal Exported for tests.
 */
export const tradeBehind = (seed: number, count: number, index: number): number =>
  index < count
    ? index * TRADES_PER_THESIS + (hash(seed, salt.which, index) & 1)
    : count * TRADES_PER_THESIS + index - count;

/** Generated theses: one for each pair of trades in the history, and one for each live trade. */
export function generatedTheses(inputs: ThesisInputs): FeedSource<Thesis, ThesisFilter, ThesisFrameData> {
  const { seed, count, traders, users, tokens, trades } = inputs;
  const ids = numbered(seed, salt.id);
  const id = (index: number) => uuidOf(ids.bytes(index, 16));

  const tradeOf = (index: number) => tradeBehind(seed, count, index);
  const placeOf = (index: number) => trades.trader(tradeOf(index)) * SLOTS + trades.slot(tradeOf(index));

  const authorOf = (index: number) => trades.trader(tradeOf(index));
  const tokenOf = (index: number) => trades.token(authorOf(index), trades.slot(tradeOf(index)));
  const byAuthor = groups(traders.count, authorOf);
  const byPlace = groups(traders.count * SLOTS, placeOf);
  const byToken = groups(tokens.count, tokenOf);

  function groups(size: number, groupOf: (index: number) => number): (group: number) => Uint32Array {
    let sorted = count > EAGER_GROUPS ? groupBy(count, size, groupOf) : undefined;
    return (group) => {
      sorted ??= groupBy(count, size, groupOf);
      return sorted(group);
    };
  }

  const base: TimelineBase<Thesis> = {
    count,
    time: (index) => trades.time(tradeOf(index)),
    indexOf(text) {
      const head = uuidHead(text);
      const index = head && ids.indexOf(head);
      return index !== undefined && index < count && id(index) === text ? index : undefined;
    },
    make: record,
  };

  function select({ userId, tokenAddress }: ThesisFilter): Uint32Array | undefined {
    const author = userId === undefined ? undefined : traders.indexOfId(userId);
    const token = tokenAddress === undefined ? undefined : tokens.indexOf(tokenAddress);
    if (userId === undefined) return token === undefined ? undefined : byToken(token);
    if (author === undefined) return undefined;
    if (tokenAddress === undefined) return byAuthor(author);
    const slot = token === undefined ? undefined : trades.slotOf(author, token);
    return slot === undefined ? undefined : byPlace(author * SLOTS + slot);
  }

  function record(index: number): Thesis {
    const trade = tradeOf(index);
    const author = trades.trader(trade);
    const token = tokens.at(trades.token(author, trades.slot(trade)));
    const postedAt = trades.time(trade);
    const bought = trades.cents(trade) > 0;
    const bits = hash(seed, salt.form, index);
    const hostile = author === HOSTILE_AUTHOR;
    const topic: ThesisTopic = { symbol: token.symbol, buying: bought };
    const text = thesisText(hash(seed, salt.text, index), topic, hostile);
    // A few old posts have no time, but keep their position in the order.
    const platformCreatedAt = bits % 2_003 === 7 && index < count * 0.9 ? null : postedAt;
    const handle = users.handle(author);
    if (bits % 41 === 5) {
      return {
        id: id(index),
        tokenAddress: token.address,
        authorHandle: bits % 2 === 0 ? null : handle,
        thesis: text,
        platformCreatedAt,
      };
    }
    const amount = trades.amount(trade);
    const position = trades.position(trades.positionNumber(trade));
    const { lastTrade } = position;
    const { realized, realizedPct, unrealized, unrealizedPct } = figures(
      position,
      tokens.price(token.index, lastTrade),
    );
    // One object literal with keys deleted afterwards is several times faster than conditional spreads.
    const thesis: Thesis = {
      id: id(index),
      tokenAddress: token.address,
      tokenNetwork: bits % 53 === 1 ? null : token.network,
      tokenSymbol: token.symbol,
      authorId: traders.id(author),
      authorHandle: handle,
      authorName: traders.profile(author).name,
      authorIsDev: isDev(token, author, bits),
      thesis: text,
      segments: text === null || bits % 13 === 1 ? null : segmentsOf(text, token, hostile),
      likeCount: bits % 31 === 4 ? null : likes(bits),
      holdingsUsd: bits % 37 === 6 ? null : round2(amount * tokens.price(token.index, postedAt)),
      authorTradeUsd: Math.abs(trades.cents(trade)) / 100,
      pnl: realized ?? unrealized,
      realizedPnlUsd: realized,
      unrealizedPnlUsd: unrealized,
      percentageRealizedPnl: realizedPct,
      percentageUnrealizedPnl: unrealizedPct,
      tokenAmount: bits % 43 === 8 ? null : round6(amount),
      closedAt: position.closed ? lastTrade : null,
      platformCreatedAt,
      updatedAt: lastTrade,
    };
    if (bits % 17 === 1) delete thesis.segments;
    if (bits % 29 === 3) delete thesis.likeCount;
    if (bits % 47 === 9) delete thesis.updatedAt;
    return thesis;
  }

  return {
    base,
    select,
    initial: [],
    next(now) {
      const trade = trades.next(Math.floor(now));
      const index = count + trade - count * TRADES_PER_THESIS;
      const author = trades.trader(trade);
      const token = tokens.at(trades.token(author, trades.slot(trade)));
      const time = trades.time(trade);
      inputs.tradeAdded(time);
      const keys = thesisKeys(traders.id(author), token.address);
      return {
        record: {
          ...record(index),
          authorAvatarUrl: traders.profile(author).profilePicture,
          tokenImageUrl: token.image,
        },
        arrival: { id: id(index), time, keys, make: () => record(index) },
      };
    },
  };
}

const likes = (bits: number) => (bits >>> 9) % ((bits >>> 5) % 16 === 0 ? 4_000 : 40);

function isDev(token: Token, author: number, bits: number): boolean | null {
  if (bits % 59 === 2) return null;
  return token.index % 4 === 0 && author === token.index >> 2;
}

/** The realized and unrealized profit of a position at a price. */
function figures(position: Holding, price: number) {
  const { amount, cost, boughtUsd, realizedUsd, sold, closed } = position;
  const realized = sold ? round2(realizedUsd) : null;
  const unrealized = closed ? null : round2(amount * (price - cost));
  const invested = amount * cost;
  return {
    realized,
    unrealized,
    realizedPct: realized === null ? null : round2((realizedUsd / (boughtUsd - invested)) * 100),
    unrealizedPct: unrealized === null || invested === 0 ? null : round2((price / cost - 1) * 100),
  };
}

/** The text in rich-text segments, in which the ticker is a link. */
function segmentsOf(text: string, token: Token, hostile: boolean): Segments {
  if (text === '') return [];
  if (hostile) return [{ text, link: 'javascript:alert(1)' }];
  const ticker = token.symbol === null ? '' : `$${token.symbol}`;
  const at = ticker === '' ? -1 : text.indexOf(ticker);
  if (at < 0) return [{ text }];
  const end = at + ticker.length;
  const segments: Segments = at === 0 ? [] : [{ text: text.slice(0, at) }];
  segments.push({ text: ticker, link: `https://platform.example/token/${token.address}` });
  if (end < text.length)
    segments.push({ text: text.slice(end), ...(token.index % 9 === 4 ? { bold: true } : {}) });
  return segments;
}
