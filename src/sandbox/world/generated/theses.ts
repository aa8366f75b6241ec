import type { Thesis, ThesisFrameData } from '../../../contract/records/thesis.ts';
import { normalAddress, numbered, uuidHead, uuidOf } from '../address.ts';
import { hash, round2, round6 } from '../hash.ts';
import { createFeed, groupBy, type Picked } from '../timeline.ts';
import type { ThesisFilter, World } from '../types.ts';
import type { Users } from '../users.ts';
import { cast } from './cast.ts';
import { SLOTS } from './portfolios.ts';
import type { Episode } from './positions.ts';
import { type Subject, thesisText } from './texts.ts';
import type { Token, Tokens } from './tokens.ts';
import type { Traders } from './traders.ts';
import { TRADES_PER_THESIS, type Trades } from './trades.ts';

/** What a world's theses are made from. */
export interface ThesisSources {
  readonly seed: number;
  /** Theses of the history; later ones are posted live. */
  readonly count: number;
  readonly traders: Traders;
  readonly users: Users;
  readonly tokens: Tokens;
  readonly trades: Trades;
  /** Called when a live post has brought a trade with it. */
  readonly traded: (time: number) => void;
}

type Segments = NonNullable<Thesis['segments']>;

const salt = { which: 71, text: 72, form: 73, id: 74 };
/** Theses from which on sorting would be felt in an answer. */
const SORTED_AHEAD = 100_000;
const EVIL = cast.findIndex((one) => one.handle === 'evil');

/** The names of the narrowed feeds that a thesis is in. */
export function thesisKeys(authorId: string | undefined | null, token: string | undefined | null): string[] {
  const keys: string[] = [];
  if (authorId) keys.push(keyOf({ userId: authorId }));
  if (token) keys.push(keyOf({ tokenAddress: token }));
  if (authorId && token) keys.push(keyOf({ userId: authorId, tokenAddress: token }));
  return keys;
}

/** The name of a narrowed feed. */
export const keyOf = ({ userId, tokenAddress }: ThesisFilter): string =>
  `${userId?.toLowerCase() ?? ''} ${tokenAddress === undefined ? '' : normalAddress(tokenAddress)}`;

/** Whether a filter narrows at all. */
export const narrows = (filter: ThesisFilter): boolean =>
  filter.userId !== undefined || filter.tokenAddress !== undefined;

/** A page's form of what a frame carried: the same without the frame's own two fields. */
export function pageForm({ authorAvatarUrl, tokenImageUrl, ...thesis }: ThesisFrameData): Thesis {
  return thesis;
}

/** The trade that a thesis of a world follows from: one of each pair of its history, then each live one. */
export const tradeBehind = (seed: number, count: number, index: number): number =>
  index < count
    ? index * TRADES_PER_THESIS + (hash(seed, salt.which, index) & 1)
    : count * TRADES_PER_THESIS + index - count;

/** The theses that follow from the trades: one to each pair of them, and one to each live trade. */
export function createTheses(sources: ThesisSources): World['theses'] {
  const { seed, count, traders, users, tokens, trades } = sources;
  const ids = numbered(seed, salt.id);
  const id = (index: number) => uuidOf(ids.bytes(index, 16));

  const tradeOf = (index: number) => tradeBehind(seed, count, index);
  const placeOf = (index: number) => trades.trader(tradeOf(index)) * SLOTS + trades.slot(tradeOf(index));

  const authorOf = (index: number) => trades.trader(tradeOf(index));
  const tokenOf = (index: number) => trades.token(authorOf(index), trades.slot(tradeOf(index)));
  const byAuthor = groups(traders.count, authorOf);
  const byPlace = groups(traders.count * SLOTS, placeOf);
  const byToken = groups(tokens.count, tokenOf);

  /** A small world sorts its theses when a narrowed feed is first asked for, a large one before it serves. */
  function groups(size: number, groupOf: (index: number) => number): (group: number) => Uint32Array {
    let sorted = count > SORTED_AHEAD ? groupBy(count, size, groupOf) : undefined;
    return (group) => {
      sorted ??= groupBy(count, size, groupOf);
      return sorted(group);
    };
  }

  const feed = createFeed<Thesis>({
    count,
    time: (index) => trades.time(tradeOf(index)),
    indexOf(text) {
      const head = uuidHead(text);
      const index = head && ids.guess(head);
      return index !== undefined && index < count && id(index) === text ? index : undefined;
    },
    make: record,
  });

  function picked({ userId, tokenAddress }: ThesisFilter): Picked {
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
    const evil = author === EVIL;
    const subject: Subject = { symbol: token.symbol, buying: bought };
    const text = thesisText(hash(seed, salt.text, index), subject, evil);
    // Old posts whose time was lost keep their place in the order.
    const platformCreatedAt = bits % 2_003 === 7 && index < count * 0.9 ? null : postedAt;
    const handle = users.handle(author);
    if (bits % 41 === 5) {
      const known = bits % 2 === 0 ? null : handle;
      return {
        id: id(index),
        tokenAddress: token.address,
        authorHandle: known,
        thesis: text,
        platformCreatedAt,
      };
    }
    const amount = trades.amount(trade);
    const position = trades.position(trades.episode(trade));
    const { lastTrade } = position;
    const { realized, realizedPct, unrealized, unrealizedPct } = figures(
      position,
      tokens.price(token.index, lastTrade),
    );
    // One literal of one shape, and keys taken off the few that lack them: several times faster to make
    // than putting each record together from parts.
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
      segments: text === null || bits % 13 === 1 ? null : segmentsOf(text, token, evil),
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
    slice(filter, before, limit, now) {
      const narrow = narrows(filter) ? { picked: picked(filter), key: keyOf(filter) } : undefined;
      return feed.slice(narrow, before, limit, now);
    },
    post(now) {
      const trade = trades.next(Math.floor(now));
      const index = count + trade - count * TRADES_PER_THESIS;
      const author = trades.trader(trade);
      const token = tokens.at(trades.token(author, trades.slot(trade)));
      const time = trades.time(trade);
      sources.traded(time);
      feed.add({
        id: id(index),
        time,
        keys: thesisKeys(traders.id(author), token.address),
        make: () => record(index),
      });
      return {
        ...record(index),
        authorAvatarUrl: traders.profile(author).profilePicture,
        tokenImageUrl: token.image,
      };
    },
    add(post) {
      const thesis = pageForm(post);
      feed.add({
        id: post.id,
        // What has no post time stands below everything that has one.
        time: post.platformCreatedAt ?? 0,
        keys: thesisKeys(post.authorId, post.tokenAddress),
        make: () => thesis,
      });
    },
    remove: feed.remove,
    withhold: feed.withhold,
    get count() {
      return feed.count;
    },
  };
}

const likes = (bits: number) => (bits >>> 9) % ((bits >>> 5) % 16 === 0 ? 4_000 : 40);

function isDev(token: Token, author: number, bits: number): boolean | null {
  if (bits % 59 === 2) return null;
  return token.index % 4 === 0 && author === token.index >> 2;
}

/** The running figures of an open position, or the final ones of a closed one. */
function figures(position: Episode, price: number) {
  const { amount, cost, boughtUsd, realizedUsd, sold, closed } = position;
  const realized = sold ? round2(realizedUsd) : null;
  const unrealized = closed ? null : round2(amount * (price - cost));
  const held = amount * cost;
  return {
    realized,
    unrealized,
    realizedPct: realized === null ? null : round2((realizedUsd / (boughtUsd - held)) * 100),
    unrealizedPct: unrealized === null || held === 0 ? null : round2((price / cost - 1) * 100),
  };
}

/** Rich text of the same words, the ticker linked. */
function segmentsOf(text: string, token: Token, evil: boolean): Segments {
  if (text === '') return [];
  if (evil) return [{ text, link: 'javascript:alert(1)' }];
  const mark = token.symbol === null ? '' : `$${token.symbol}`;
  const at = mark === '' ? -1 : text.indexOf(mark);
  if (at < 0) return [{ text }];
  const end = at + mark.length;
  const segments: Segments = at === 0 ? [] : [{ text: text.slice(0, at) }];
  segments.push({ text: mark, link: `https://platform.example/token/${token.address}` });
  if (end < text.length)
    segments.push({ text: text.slice(end), ...(token.index % 9 === 4 ? { bold: true } : {}) });
  return segments;
}
