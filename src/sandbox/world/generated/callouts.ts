import type { Callout } from '../../../contract/records/launchpad.ts';
import { bytesToHex, numbered } from '../address.ts';
import { calloutKeys } from '../feed-keys.ts';
import { DAY, HOUR, hash, round2, unit } from '../hash.ts';
import type { FeedSource } from '../source.ts';
import { groupBy, type TimelineBase } from '../timeline.ts';
import type { CalloutFilter } from '../types.ts';
import { SOLANA } from './fixed-traders.ts';
import type { Accounts } from './launchpad-accounts.ts';
import { thesisText } from './texts.ts';
import type { Tokens } from './tokens.ts';

const HISTORY_MS = 60 * DAY;
/** The time between the prices from which multiples are computed. */
const STEP = 3 * HOUR;
const salt = { gap: 91, tie: 92, coin: 93, author: 94, form: 95, text: 96, id: 97 };

/** Generated callouts. */
export function generatedCallouts(
  seed: number,
  count: number,
  now: number,
  accounts: Accounts,
  tokens: Tokens,
): FeedSource<Callout, CalloutFilter> {
  const ids = numbered(seed, salt.id);
  const id = (index: number) => bytesToHex(ids.bytes(index, 12));
  const times = Array.from({ length: count }, () => now);
  let last = now - HISTORY_MS;
  for (let index = 0; index < count; index++) {
    const left = 1 - (index + unit(seed, salt.gap, index)) / count;
    // Some callouts have the same time as the previous callout. In one stretch, more callouts than fit on a
    // page have the same time.
    const tied = hash(seed, salt.tie, index) % 30 === 0 || (index > 300 && index < 340);
    if (index === 0 || !tied) last = Math.max(last, Math.floor(now - HISTORY_MS * left * Math.sqrt(left)));
    times[index] = last;
  }

  const authors = Uint32Array.from({ length: accounts.count }, (_, index) => index).filter(
    (index) => accounts.record(index).isLaunchpadUser !== false,
  );
  const authorOf = (index: number) => {
    const draw = unit(seed, salt.author, index);
    return authors[Math.floor(draw * draw * authors.length)] ?? 0;
  };
  const coinOf = (index: number) => tokens.choose(SOLANA, unit(seed, salt.coin, index));
  const byAuthor = groupBy(count, accounts.count, authorOf);
  const byCoin = groupBy(count, tokens.count, coinOf);

  const base: TimelineBase<Callout> = {
    count,
    time: (index) => times[index] ?? now,
    indexOf(text) {
      if (!/^[0-9a-f]{24}$/.test(text)) return undefined;
      const index = ids.indexOf(new Uint8Array(Buffer.from(text, 'hex')));
      return index < count && id(index) === text ? index : undefined;
    },
    make: record,
  };

  /**
   * The price at `from`, and the latest and the highest price between `from` and `to`, as multiples of the price
   * at `from`.
   */
  function multiplesSince(token: number, from: number, to: number) {
    const start = tokens.price(token, from);
    let now = start;
    let best = start;
    for (let at = from + STEP; at <= to; at += STEP) {
      now = tokens.price(token, at);
      if (now > best) best = now;
    }
    return { start, multiple: round2(now / start), best: round2(best / start) };
  }

  function record(index: number, at: number): Callout {
    const account = accounts.record(authorOf(index));
    const token = tokens.at(coinOf(index));
    const createdAt = times[index] ?? now;
    const bits = hash(seed, salt.form, index);
    const { start, multiple, best } = multiplesSince(token.index, createdAt, at);
    const known = bits % 31 !== 6;
    return {
      id: id(index),
      wallet: account.wallet,
      userName: account.username,
      xUsername: account.xUsername,
      isVerified: account.isVerified,
      coinMint: token.address,
      chain: bits % 37 === 4 ? null : token.network,
      coinSymbol: token.symbol,
      coinName: token.name,
      thesis: thesisText(hash(seed, salt.text, index), { symbol: token.symbol, buying: true }, false),
      mediaUrl: bits % 5 === 0 ? `https://images.example/media/${bits.toString(16)}.png` : null,
      calledOutAtMcap: known ? round2(start * token.supply) : null,
      multiple: known ? multiple : null,
      maxMultiplier: known ? best : null,
      createdAt: bits % 401 === 9 && index < count * 0.8 ? null : createdAt,
    };
  }

  return {
    base,
    initial: [],
    select({ coin, wallet }) {
      if (coin !== undefined) {
        const token = tokens.indexOf(coin);
        return token === undefined ? undefined : byCoin(token);
      }
      const account = wallet === undefined ? undefined : accounts.indexOf(wallet);
      return account === undefined ? undefined : byAuthor(account);
    },
    next(at) {
      const index = times.length;
      const time = Math.max(Math.floor(at), times.at(-1) ?? 0);
      times.push(time);
      const latest = record(index, time);
      const arrival = {
        id: id(index),
        time,
        keys: calloutKeys(latest),
        make: (now: number) => record(index, now),
      };
      return { record: latest, arrival };
    },
  };
}
