import { once } from '../../base/calls.ts';
import { CALLOUT_PAGE } from '../../contract/limits.ts';
import type { Board, BoardPeriod, Callout } from '../../contract/records/launchpad.ts';
import type { Pnl } from '../../contract/records/pnl.ts';
import type { Thesis, ThesisFrameData } from '../../contract/records/thesis.ts';
import type { User } from '../../contract/records/user.ts';
import { pick, randomHex, randomOf, randomUuid } from '../random.ts';
import { normalAddress } from './address.ts';
import { createFeed, type Slice } from './feed.ts';
import type { ResolvePlan, WorldRecords } from './records.ts';

export interface ThesisFilter {
  readonly userId?: string | undefined;
  readonly tokenAddress?: string | undefined;
}

export interface CalloutFilter {
  readonly coin?: string | undefined;
  readonly wallet?: string | undefined;
}

export type World = ReturnType<typeof createWorld>;

/**
 * The data of the sandbox, without HTTP, keys and prices. The time `now` is always an argument, because the simulated
 * clock belongs to the server. Live resolves and renames change the given records.
 */
export function createWorld(records: WorldRecords, seed: number) {
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
    const { authorId, authorHandle, tokenAddress, closedAt, updatedAt } = post;
    const author = byId.get(authorId ?? '');
    return {
      ...post,
      id: randomUuid(randomTheses),
      platformCreatedAt: now,
      closedAt: closedAt && now,
      updatedAt: updatedAt && now,
      // The author may have been renamed.
      authorHandle: author?.handle ?? authorHandle,
      authorAvatarUrl: author?.profilePicture ?? null,
      tokenImageUrl: tokenAddress ? `https://images.example/token/${tokenAddress}.png` : null,
    };
  }

  return {
    users: {
      handles,
      /** Finds a user by a handle in any case. After a rename, only the new handle is found. */
      byHandle: (handle: string) => byHandle.get(handle.toLowerCase()),
      byId: (id: string) => byId.get(id.toLowerCase()),
      /** Finds the user of an address; always the same user if there are several. */
      byWallet: (address: string) => byWallet.get(normalAddress(address)),
      isSample: (id: string) => samples.has(id),
      resolvePlan: (id: string): ResolvePlan =>
        unverified.get(id)?.plan ?? { outcome: 'pending', reason: 'no_preview' },
      /** Verifies the wallets that a resolve found. From then on, every lookup shows them. */
      reveal(id: string): User {
        const user = userOf(id);
        const { solanaAddress = user.solanaAddress, evmAddress = user.evmAddress } = unverified.get(id) ?? {};
        Object.assign(user, { solanaAddress, evmAddress });
        for (const address of walletsOf(user)) if (!byWallet.has(address)) byWallet.set(address, user);
        const pnl = numbers().get(user.handle.toLowerCase());
        if (pnl) Object.assign(pnl, { wallet: solanaAddress, evmWallet: evmAddress });
        return user;
      },
      rename(id: string, handle: string): void {
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
    pnl(handle: string): Pnl | undefined {
      const user = byHandle.get(handle.toLowerCase());
      return numbers().get(handle.toLowerCase()) ?? (user && blankNumbers(user));
    },
    theses: {
      slice(
        { userId, tokenAddress }: ThesisFilter,
        before: string | undefined,
        limit: number,
        now: number,
      ): Slice<Thesis> {
        const token = tokenAddress === undefined ? undefined : normalAddress(tokenAddress);
        const matches = (thesis: Thesis) =>
          (userId === undefined || thesis.authorId?.toLowerCase() === userId) &&
          (token === undefined || normalAddress(thesis.tokenAddress ?? '') === token);
        return theses().feed.slice(matches, before, limit, now);
      },
      /** Adds a post of the history again, as a new post with the time `now`. */
      post(now: number): ThesisFrameData {
        const post = livePost(Math.floor(now));
        add(post);
        return post;
      },
      /** Adds a given post, from a replay or a test. */
      add,
      remove: (id: string) => theses().feed.remove(id),
      withhold: (id: string, until: number) => theses().feed.withhold(id, until),
      get count(): number {
        return theses().feed.count;
      },
    },
    launchpad: {
      user: (wallet: string) => accounts().get(normalAddress(wallet)),
      callouts: ({ coin, wallet }: CalloutFilter, before: string | undefined, now: number) =>
        callouts().feed.slice(
          (callout) =>
            (coin === undefined || normalAddress(callout.coinMint) === normalAddress(coin)) &&
            (wallet === undefined || normalAddress(callout.wallet) === normalAddress(wallet)),
          before,
          CALLOUT_PAGE,
          now,
        ),
      /** Adds a callout of the history again, as a new one; undefined if there is no history. */
      postCallout(now: number): Callout | undefined {
        const { feed, history } = callouts();
        if (history.length === 0) return undefined;
        const id = randomHex(randomCallouts, 24);
        const createdAt = Math.floor(now);
        const callout = { ...pick(randomCallouts, history), id, createdAt, multiple: 1, maxMultiplier: 1 };
        feed.add(callout);
        return callout;
      },
      /** The latest snapshot at or before `at`; an empty board with null as `capturedAt` if there is none. */
      board: (period: BoardPeriod, at: number): Board =>
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

const withHistory = <T extends { readonly id: string }>(
  history: readonly T[],
  timeOf: (post: T) => number,
) => ({ history, feed: createFeed(history, timeOf) });

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
