import { CALLOUT_PAGE } from '../../contract/limits.ts';
import type { Pnl } from '../../contract/records/pnl.ts';
import type { Thesis, ThesisFrameData } from '../../contract/records/thesis.ts';
import type { User } from '../../contract/records/user.ts';
import { pick, randomHex, randomOf, randomUuid } from '../random.ts';
import { normalAddress } from './address.ts';
import { createFeed } from './feed.ts';
import type { World, WorldRecords } from './types.ts';

/** Creates a world from its records. The world changes these records: live resolves and renames. */
export function createWorld(records: WorldRecords, seed: number): World {
  const { unverified, samples } = records;
  const users = [...records.users];
  const handles = users.map(({ handle }) => handle);
  const byHandle = firstBy(users, ({ handle }) => [handle.toLowerCase()]);
  const byId = firstBy(users, ({ id }) => [id.toLowerCase()]);
  const byWallet = firstBy(users, walletsOf);
  const numbers = once(() => firstBy(records.numbers(), ({ handle }) => [handle.toLowerCase()]));
  const randomTheses = randomOf(seed, 'live theses');
  const randomCallouts = randomOf(seed, 'live callouts');
  const theses = once(() => withHistory(records.theses(), ({ platformCreatedAt }) => platformCreatedAt ?? 0));
  const callouts = once(() => withHistory(records.callouts(), ({ createdAt }) => createdAt ?? 0));
  const accounts = once(() => firstBy(records.accounts(), ({ wallet }) => [normalAddress(wallet)]));
  const boards = once(() =>
    records.boards().toSorted((one, other) => (other.capturedAt ?? 0) - (one.capturedAt ?? 0)),
  );

  function userOf(id: string): User {
    const user = byId.get(id.toLowerCase());
    if (!user) throw new RangeError(`no user has the id ${id}`);
    return user;
  }

  function add({ authorAvatarUrl, tokenImageUrl, ...thesis }: ThesisFrameData): void {
    theses().feed.add(thesis);
  }

  /** A post of the history as a new one. If its position was closed, it is closed now. */
  function livePost(now: number): ThesisFrameData {
    const { history } = theses();
    const post = history.length > 0 ? pick(randomTheses, history) : blankThesis(users[0]);
    const { authorId, tokenAddress, closedAt, updatedAt } = post;
    return {
      ...post,
      id: randomUuid(randomTheses),
      platformCreatedAt: now,
      closedAt: closedAt && now,
      updatedAt: updatedAt && now,
      authorAvatarUrl: byId.get(authorId ?? '')?.profilePicture ?? null,
      tokenImageUrl: tokenAddress ? `https://images.example/token/${tokenAddress}.png` : null,
    };
  }

  return {
    users: {
      handles,
      byHandle: (handle) => byHandle.get(handle.toLowerCase()),
      byId: (id) => byId.get(id.toLowerCase()),
      byWallet: (address) => byWallet.get(normalAddress(address)),
      isSample: (id) => samples.has(id),
      resolvePlan: (id) => unverified.get(id)?.plan ?? { outcome: 'pending', reason: 'no_preview' },
      reveal(id) {
        const user = userOf(id);
        const { solanaAddress = user.solanaAddress, evmAddress = user.evmAddress } = unverified.get(id) ?? {};
        Object.assign(user, { solanaAddress, evmAddress });
        for (const address of walletsOf(user)) if (!byWallet.has(address)) byWallet.set(address, user);
        const pnl = numbers().get(user.handle.toLowerCase());
        if (pnl) Object.assign(pnl, { wallet: solanaAddress, evmWallet: evmAddress });
        return user;
      },
      rename(id, handle) {
        const user = userOf(id);
        const pnl = numbers().get(user.handle.toLowerCase());
        byHandle.delete(user.handle.toLowerCase());
        numbers().delete(user.handle.toLowerCase());
        handles[users.indexOf(user)] = handle;
        user.handle = handle;
        byHandle.set(handle.toLowerCase(), user);
        if (pnl) numbers().set(handle.toLowerCase(), { ...pnl, handle });
      },
    },
    pnl(handle) {
      const user = byHandle.get(handle.toLowerCase());
      return numbers().get(handle.toLowerCase()) ?? (user && blankNumbers(user));
    },
    theses: {
      slice({ userId, tokenAddress }, before, limit, now) {
        const token = tokenAddress === undefined ? undefined : normalAddress(tokenAddress);
        const matches = (thesis: Thesis) =>
          (userId === undefined || thesis.authorId === userId) &&
          (token === undefined || normalAddress(thesis.tokenAddress ?? '') === token);
        return theses().feed.slice(matches, before, limit, now);
      },
      post(now) {
        const post = livePost(Math.floor(now));
        add(post);
        return post;
      },
      add,
      remove: (id) => theses().feed.remove(id),
      withhold: (id, until) => theses().feed.withhold(id, until),
      get count() {
        return theses().feed.count;
      },
    },
    launchpad: {
      user: (wallet) => accounts().get(normalAddress(wallet)),
      callouts: ({ coin, wallet }, before, now) =>
        callouts().feed.slice(
          (callout) =>
            (coin === undefined || normalAddress(callout.coinMint) === normalAddress(coin)) &&
            (wallet === undefined || normalAddress(callout.wallet) === normalAddress(wallet)),
          before,
          CALLOUT_PAGE,
          now,
        ),
      postCallout(now) {
        const { feed, history } = callouts();
        if (history.length === 0) return undefined;
        const id = randomHex(randomCallouts, 24);
        const createdAt = Math.floor(now);
        const callout = { ...pick(randomCallouts, history), id, createdAt, multiple: 1, maxMultiplier: 1 };
        feed.add(callout);
        return callout;
      },
      board: (period, at) =>
        boards().find((board) => board.period === period && (board.capturedAt ?? 0) <= at) ?? {
          period,
          capturedAt: null,
          count: 0,
          entries: [],
        },
    },
  };
}

/** The records by their keys. If several records have the same key, the first one is found. */
function firstBy<T>(records: readonly T[], keysOf: (record: T) => readonly string[]): Map<string, T> {
  const map = new Map<string, T>();
  for (const record of records) {
    for (const key of keysOf(record)) if (!map.has(key)) map.set(key, record);
  }
  return map;
}

const walletsOf = ({ solanaAddress, evmAddress }: User): string[] =>
  [solanaAddress, evmAddress].flatMap((address) => (address === null ? [] : normalAddress(address)));

/** A feed, and the posts that it starts with. */
const withHistory = <T extends { readonly id: string }>(
  history: readonly T[],
  timeOf: (post: T) => number,
) => ({ history, feed: createFeed(history, timeOf) });

/** A live post of a world without theses. */
const blankThesis = (author: User | undefined): Thesis => ({
  id: '',
  authorId: author?.id ?? null,
  authorHandle: author?.handle ?? null,
  thesis: 'Back soon.',
  platformCreatedAt: null,
});

const blankNumbers = ({ handle, name, solanaAddress, evmAddress }: User): Pnl => ({
  handle,
  displayName: name,
  wallet: solanaAddress,
  evmWallet: evmAddress,
  updatedAt: null,
  windows: { '24h': null, '7d': null, '30d': null, all: null },
});

/** Calls `make` on first use and keeps the result. */
function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
