import { CALLOUT_PAGE } from '../../../contract/limits.ts';
import type { Callout } from '../../../contract/records/launchpad.ts';
import { hexOf, numbered } from '../address.ts';
import { DAY, HOUR, hash, round2, unit } from '../hash.ts';
import { createFeed, groupBy } from '../timeline.ts';
import type { World } from '../types.ts';
import { SOLANA } from './cast.ts';
import type { Accounts } from './launchpad-accounts.ts';
import { thesisText } from './texts.ts';
import type { Tokens } from './tokens.ts';

const SPAN = 60 * DAY;
/** How often the price of a coin that was called out is looked at. */
const STEP = 3 * HOUR;
const salt = { gap: 91, tie: 92, coin: 93, who: 94, form: 95, text: 96, id: 97 };

/** The coins called out on the launchpad, newest first, and more of them live. */
export function createCallouts(
  seed: number,
  count: number,
  now: number,
  accounts: Accounts,
  tokens: Tokens,
): Pick<World['launchpad'], 'callouts' | 'call'> {
  const ids = numbered(seed, salt.id);
  const id = (index: number) => hexOf(ids.bytes(index, 12));
  const times = Array.from({ length: count }, () => now);
  let last = now - SPAN;
  for (let index = 0; index < count; index++) {
    const left = 1 - (index + unit(seed, salt.gap, index)) / count;
    // Some share their millisecond with the one before, some a page and more of it.
    const tied = hash(seed, salt.tie, index) % 30 === 0 || (index > 300 && index < 340);
    if (index === 0 || !tied) last = Math.max(last, Math.floor(now - SPAN * left * Math.sqrt(left)));
    times[index] = last;
  }

  const callers = Uint32Array.from({ length: accounts.count }, (_, index) => index).filter(
    (index) => accounts.record(index).isLaunchpadUser !== false,
  );
  const caller = (index: number) => {
    const draw = unit(seed, salt.who, index);
    return callers[Math.floor(draw * draw * callers.length)] ?? 0;
  };
  const coin = (index: number) => tokens.choose(SOLANA, unit(seed, salt.coin, index));
  const byCaller = groupBy(count, accounts.count, caller);
  const byCoin = groupBy(count, tokens.count, coin);

  const feed = createFeed<Callout>({
    count,
    time: (index) => times[index] ?? now,
    indexOf(text) {
      if (!/^[0-9a-f]{24}$/.test(text)) return undefined;
      const index = ids.guess(new Uint8Array(Buffer.from(text, 'hex')));
      return index < count && id(index) === text ? index : undefined;
    },
    make: record,
  });

  /** The price since `from`, looked at every few hours: as multiples of what it was, now and at its best. */
  function since(token: number, from: number, to: number) {
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
    const account = accounts.record(caller(index));
    const token = tokens.at(coin(index));
    const createdAt = times[index] ?? now;
    const bits = hash(seed, salt.form, index);
    const { start, multiple, best } = since(token.index, createdAt, at);
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
    callouts({ coin: mint, wallet }, before, at) {
      if (mint !== undefined) {
        const token = tokens.indexOf(mint);
        const picked = token === undefined ? undefined : byCoin(token);
        return feed.slice({ picked, key: `coin ${mint}` }, before, CALLOUT_PAGE, at);
      }
      if (wallet !== undefined) {
        const account = accounts.indexOf(wallet);
        const picked = account === undefined ? undefined : byCaller(account);
        return feed.slice({ picked, key: `wallet ${wallet}` }, before, CALLOUT_PAGE, at);
      }
      return feed.slice(undefined, before, CALLOUT_PAGE, at);
    },
    call(at) {
      const index = times.length;
      const time = Math.max(Math.floor(at), times.at(-1) ?? 0);
      times.push(time);
      const keys = [`coin ${tokens.at(coin(index)).address}`, `wallet ${accounts.wallet(caller(index))}`];
      feed.add({ id: id(index), time, keys, make: (shownAt) => record(index, shownAt) });
      return record(index, time);
    },
  };
}
