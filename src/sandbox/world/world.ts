import { once } from '../../base/calls.ts';
import { CALLOUT_PAGE } from '../../contract/limits.ts';
import type { Board, BoardPeriod, Callout, LaunchpadUser } from '../../contract/records/launchpad.ts';
import type { Pnl } from '../../contract/records/pnl.ts';
import type { Thesis, ThesisFrameData } from '../../contract/records/thesis.ts';
import type { PendingReason, User } from '../../contract/records/user.ts';
import { pick, randomHex, randomOf, randomUuid } from '../random.ts';
import { normalAddress } from './address.ts';
import { createFeed } from './feed.ts';

/** The result of a live resolve for a handle without a verified wallet. */
export type ResolvePlan =
  /** The search starts after `queue` other resolves, and finds a wallet `ms` milliseconds later. */
  | { readonly outcome: 'found'; readonly ms: number; readonly queue: number }
  /** All calls get a 202 with this reason. */
  | { readonly outcome: 'pending'; readonly reason: Exclude<PendingReason, 'queued'> };

interface Unverified extends Pick<User, 'solanaAddress' | 'evmAddress'> {
  readonly plan: ResolvePlan;
}

/**
 * The records of a world, as the service sends them, generated or loaded. The functions are called once, on
 * first use, because many runs do not need these records.
 */
export interface WorldRecords {
  readonly users: readonly User[];
  /** The users whose wallets are not verified, by their ids. */
  readonly unverified: ReadonlyMap<string, Unverified>;
  /** The ids of the users whose wallets a free key can reveal. */
  readonly samples: ReadonlySet<string>;
  numbers(): readonly Pnl[];
  theses(): readonly Thesis[];
  accounts(): readonly LaunchpadUser[];
  callouts(): readonly Callout[];
  boards(): readonly Board[];
}

export type World = ReturnType<typeof createWorld>;

/**
 * The data of the sandbox, without HTTP, keys and prices. The time `now` is always an argument, because the simulated
 * clock belongs to the server. Live resolves and renames change the given records.
 */
export function createWorld(records: WorldRecords, seed: number) {
  const { users, unverified, samples } = records;
  const byHandle = firstBy(users, ({ handle }) => [handle.toLowerCase()]);
  const byId = firstBy(users, ({ id }) => [id.toLowerCase()]);
  const byWallet = firstBy(users, walletsOf);
  const numbers = once(() => firstBy(records.numbers(), ({ handle }) => [handle.toLowerCase()]));
  const history = once(() => ({ theses: records.theses(), callouts: records.callouts() }));
  const theses = once(() => createFeed(history().theses, ({ platformCreatedAt }) => platformCreatedAt ?? 0));
  const callouts = once(() => createFeed(history().callouts, ({ createdAt }) => createdAt ?? 0));
  const accounts = once(() => firstBy(records.accounts(), ({ wallet }) => [normalAddress(wallet)]));
  const boards = once(() =>
    records.boards().toSorted((one, other) => (other.capturedAt ?? 0) - (one.capturedAt ?? 0)),
  );
  const randomTheses = randomOf(seed, 'live theses');
  const randomCallouts = randomOf(seed, 'live callouts');

  /** A post of the history as a new one. If its position was closed, it is closed now. */
  function newThesis(now: number): ThesisFrameData {
    const posts = history().theses;
    const post = posts.length > 0 ? pick(randomTheses, posts) : blankThesis(users[0]);
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
    handles: () => users.map(({ handle }) => handle),
    /** Finds a user by a handle in any case. After a rename, only the new handle is found. */
    user: (handle: string) => byHandle.get(handle.toLowerCase()),
    userById: (id: string) => byId.get(id.toLowerCase()),
    /** Finds the user of an address; always the same user if there are several. */
    userByWallet: (address: string) => byWallet.get(normalAddress(address)),
    isSample: (id: string) => samples.has(id),
    resolvePlan: (id: string): ResolvePlan =>
      unverified.get(id)?.plan ?? { outcome: 'pending', reason: 'no_preview' },
    /** Verifies the wallets that a resolve found. From then on, every lookup shows them. */
    reveal(id: string): void {
      const [user, found] = [byId.get(id.toLowerCase()), unverified.get(id)];
      if (!user || !found) return;
      const { solanaAddress, evmAddress } = Object.assign(user, {
        solanaAddress: found.solanaAddress,
        evmAddress: found.evmAddress,
      });
      for (const address of walletsOf(user)) if (!byWallet.has(address)) byWallet.set(address, user);
      const pnl = numbers().get(user.handle.toLowerCase());
      if (pnl) Object.assign(pnl, { wallet: solanaAddress, evmWallet: evmAddress });
    },
    rename(id: string, handle: string): void {
      const user = byId.get(id.toLowerCase());
      if (!user) return;
      const old = user.handle.toLowerCase();
      const pnl = numbers().get(old);
      for (const map of [byHandle, numbers()]) map.delete(old);
      user.handle = handle;
      byHandle.set(handle.toLowerCase(), user);
      if (pnl) numbers().set(handle.toLowerCase(), { ...pnl, handle });
    },
    pnl(handle: string): Pnl | undefined {
      const user = byHandle.get(handle.toLowerCase());
      return numbers().get(handle.toLowerCase()) ?? (user && blankNumbers(user));
    },
    theses(
      filter: { readonly userId?: string | undefined; readonly tokenAddress?: string | undefined },
      before: string | undefined,
      limit: number,
      now: number,
    ) {
      const { userId, tokenAddress } = filter;
      const token = tokenAddress === undefined ? undefined : normalAddress(tokenAddress);
      const matches = (thesis: Thesis) =>
        (userId === undefined || thesis.authorId?.toLowerCase() === userId) &&
        (token === undefined || normalAddress(thesis.tokenAddress ?? '') === token);
      return theses().slice(matches, before, limit, now);
    },
    /** Adds a given post, or a post of the history as a new one with the time `now`. */
    addThesis(now: number, given = newThesis(Math.floor(now))): ThesisFrameData {
      const { authorAvatarUrl, tokenImageUrl, ...thesis } = given;
      theses().add(thesis);
      return given;
    },
    remove: (id: string) => theses().remove(id),
    withhold: (id: string, until: number) => theses().withhold(id, until),
    thesisCount: () => theses().count(),
    account: (wallet: string) => accounts().get(normalAddress(wallet)),
    callouts(
      { coin, wallet }: { readonly coin?: string | undefined; readonly wallet?: string | undefined },
      before: string | undefined,
      now: number,
    ) {
      const matches = (callout: Callout) =>
        (coin === undefined || normalAddress(callout.coinMint) === normalAddress(coin)) &&
        (wallet === undefined || normalAddress(callout.wallet) === normalAddress(wallet));
      return callouts().slice(matches, before, CALLOUT_PAGE, now);
    },
    /** Adds a callout of the history again, as a new one; undefined if there is no history. */
    addCallout(now: number): Callout | undefined {
      const posts = history().callouts;
      if (posts.length === 0) return undefined;
      const id = randomHex(randomCallouts, 24);
      const createdAt = Math.floor(now);
      const callout = { ...pick(randomCallouts, posts), id, createdAt, multiple: 1, maxMultiplier: 1 };
      callouts().add(callout);
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
  };
}

/** The records by their keys. If several records have the same key, the first one is found. */
function firstBy<T>(records: readonly T[], keysOf: (record: T) => readonly string[]): Map<string, T> {
  const pairs = records.flatMap((record) => keysOf(record).map((key): [string, T] => [key, record]));
  return new Map(pairs.reverse());
}

const walletsOf = ({ solanaAddress, evmAddress }: User): string[] =>
  [solanaAddress, evmAddress].flatMap((address) => (address === null ? [] : normalAddress(address)));

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
