import type { Thesis, ThesisFrameData } from '../../contract/records/thesis.ts';
import { normalAddress, numbered, uuidHead, uuidOf } from './address.ts';
import { cast } from './cast.ts';
import { createFeed, groupBy, type Picked } from './feed.ts';
import { hash, round2, round6 } from './rng.ts';
import { type Subject, thesisText } from './texts.ts';
import type { Token, Tokens } from './tokens.ts';
import type { Traders } from './traders.ts';
import { type Episode, SLOTS, TRADES_PER_THESIS, type Trades } from './trades.ts';
import type { ThesisFilter, World } from './types.ts';
import type { Users } from './users.ts';

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

const salt = { which: 71, text: 72, form: 73, id: 74 };
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

/** The theses that follow from the trades: one to each pair of them, and one to each live trade. */
export function createTheses(sources: ThesisSources): World['theses'] {
  const { seed, count, traders, users, tokens, trades } = sources;
  const ids = numbered(seed, salt.id);
  const id = (index: number) => uuidOf(ids.bytes(index, 16));

  /** The trade behind a thesis. */
  const tradeOf = (index: number) =>
    index < count
      ? index * TRADES_PER_THESIS + (hash(seed, salt.which, index) & 1)
      : count * TRADES_PER_THESIS + index - count;
  const placeOf = (index: number) => trades.trader(tradeOf(index)) * SLOTS + trades.slot(tradeOf(index));

  const byAuthor = groupBy(count, traders.count, (index) => trades.trader(tradeOf(index)));
  const byPlace = groupBy(count, traders.count * SLOTS, placeOf);
  const byToken = groupBy(count, tokens.count, (index) => {
    const trade = tradeOf(index);
    return trades.token(trades.trader(trade), trades.slot(trade));
  });

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
    const head = { id: id(index), tokenAddress: token.address };
    const author_ = users.handle(author);
    if (bits % 41 === 5) {
      return { ...head, authorHandle: bits % 2 ? author_ : null, thesis: text, platformCreatedAt };
    }
    const amount = trades.amount(trade);
    const position = trades.position(trades.episode(trade));
    return {
      ...head,
      tokenNetwork: bits % 53 === 1 ? null : token.network,
      tokenSymbol: token.symbol,
      authorId: traders.id(author),
      authorHandle: author_,
      authorName: traders.profile(author).name,
      authorIsDev: isDev(token, author, bits),
      thesis: text,
      ...segmentsOf(text, token, bits, evil),
      ...(bits % 29 === 3 ? {} : { likeCount: bits % 31 === 4 ? null : likes(bits) }),
      holdingsUsd: bits % 37 === 6 ? null : round2(amount * tokens.price(token.index, postedAt)),
      authorTradeUsd: Math.abs(trades.cents(trade)) / 100,
      ...figures(position, tokens.price(token.index, position.lastTrade)),
      tokenAmount: bits % 43 === 8 ? null : round6(amount),
      closedAt: position.closed ? position.lastTrade : null,
      platformCreatedAt,
      ...(bits % 47 === 9 ? {} : { updatedAt: position.lastTrade }),
    };
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
    pnl: realized ?? unrealized,
    realizedPnlUsd: realized,
    unrealizedPnlUsd: unrealized,
    percentageRealizedPnl: realized === null ? null : round2((realizedUsd / (boughtUsd - held)) * 100),
    percentageUnrealizedPnl: unrealized === null || held === 0 ? null : round2((price / cost - 1) * 100),
  };
}

function segmentsOf(
  text: string | null,
  token: Token,
  bits: number,
  evil: boolean,
): Pick<Thesis, 'segments'> {
  if (bits % 17 === 1) return {};
  if (text === null || bits % 13 === 1) return { segments: null };
  if (text === '') return { segments: [] };
  if (evil) return { segments: [{ text, link: 'javascript:alert(1)' }] };
  const mark = token.symbol === null ? '' : `$${token.symbol}`;
  const at = mark === '' ? -1 : text.indexOf(mark);
  if (at < 0) return { segments: [{ text }] };
  const link = `https://platform.example/token/${token.address}`;
  const rest = [
    { text: text.slice(0, at) },
    { text: mark, link },
    { text: text.slice(at + mark.length), ...(bits % 19 === 2 ? { bold: true } : {}) },
  ];
  return { segments: rest.filter((segment) => segment.text !== '') };
}
