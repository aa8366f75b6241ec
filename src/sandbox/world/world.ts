import { once } from '../../base/calls.ts';
import type {
  Board,
  BoardPeriod,
  Callout,
  LaunchpadUser,
} from '../../contract/records/launchpad.ts';
import type { Pnl } from '../../contract/records/pnl.ts';
import type { Thesis, ThesisFrameData } from '../../contract/records/thesis.ts';
import type { PendingReason, User } from '../../contract/records/user.ts';
import { pick, randomHex, randomOf, randomUuid } from '../random.ts';

export type ResolvePlan =
  /** The search starts after `queue` other resolves, and finds a wallet `ms` milliseconds later. */
  | { readonly outcome: 'found'; readonly ms: number; readonly queue: number }
  /** All calls get a 202 with this reason. */
  | { readonly outcome: 'pending'; readonly reason: Exclude<PendingReason, 'queued'> };

/** What of a user can change: the id never does. */
export type Identity = Pick<User, 'handle' | 'solanaAddress' | 'evmAddress'>;

/** As the service sends them. The functions are called once, on first use, because many runs do not need them. */
export interface WorldRecords {
  readonly users: readonly User[];
  readonly unverified: ReadonlyMap<
    string,
    Pick<User, 'solanaAddress' | 'evmAddress'> & { readonly plan: ResolvePlan }
  >;
  /** By user id, who these people are at a time. Empty if nobody ever changes. */
  identitiesAt(time: number): ReadonlyMap<string, Identity>;
  /** The ids of the users whose wallets a free key can reveal. */
  readonly samples: ReadonlySet<string>;
  numbers(): readonly Pnl[];
  theses(): readonly Thesis[];
  accounts(): readonly LaunchpadUser[];
  callouts(): readonly Callout[];
  boards(): readonly Board[];
}

export type World = ReturnType<typeof createWorld>;

/** The time `now` is an argument, because the clock belongs to the server. Resolves and renames change the records. */
export function createWorld(records: WorldRecords, seed: number) {
  const { users, unverified, samples } = records;
  let byHandle = firstBy(users, handlesOf);
  const byId = firstBy(users, ({ id }) => [id.toLowerCase()]);
  let byWallet = firstBy(users, walletsOf);
  const numbers = once(() => firstBy(records.numbers(), ({ handle }) => [handle.toLowerCase()]));
  const history = once(() => ({ theses: records.theses(), callouts: records.callouts() }));
  const theses = once(() => createFeed(history().theses, (post) => post.platformCreatedAt));
  const callouts = once(() => createFeed(history().callouts, (post) => post.createdAt));
  const accounts = once(() => firstBy(records.accounts(), ({ wallet }) => [normalAddress(wallet)]));
  const boards = once(() =>
    records.boards().toSorted((one, other) => (other.capturedAt ?? 0) - (one.capturedAt ?? 0)),
  );
  const randomTheses = randomOf(seed, 'live theses');
  const randomCallouts = randomOf(seed, 'live callouts');

  function newThesis(now: number): ThesisFrameData {
    const posts = history().theses;
    const blank = {
      id: '',
      authorHandle: users[0]?.handle ?? null,
      thesis: 'Back soon.',
      platformCreatedAt: null,
    };
    const post: Thesis = posts.length > 0 ? pick(randomTheses, posts) : blank;
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

  /** All at once, because a handle or a wallet may pass from one user to another. */
  function change(identities: ReadonlyMap<string, Partial<Identity>>): void {
    const changed = [...identities].flatMap(([id, identity]) => {
      const user = byId.get(id.toLowerCase());
      return user && isOther(user, identity) ? { user, identity } : [];
    });
    if (changed.length === 0) return;
    const pnls = changed.map(({ user }) => take(numbers(), user.handle.toLowerCase()));
    for (const { user, identity } of changed) Object.assign(user, identity);
    byHandle = firstBy(users, handlesOf);
    byWallet = firstBy(users, walletsOf);
    for (const [at, { user }] of changed.entries()) {
      const { handle, solanaAddress: wallet, evmAddress: evmWallet } = user;
      const pnl = pnls[at];
      if (pnl) numbers().set(handle.toLowerCase(), { ...pnl, handle, wallet, evmWallet });
    }
  }

  return {
    handles: () => users.map(({ handle }) => handle),
    user: (handle: string) => byHandle.get(handle.toLowerCase()),
    userById: (id: string) => byId.get(id.toLowerCase()),
    userByWallet: (address: string) => byWallet.get(normalAddress(address)),
    isSample: (id: string) => samples.has(id),
    resolvePlan: (id: string): ResolvePlan =>
      unverified.get(id)?.plan ?? { outcome: 'pending', reason: 'no_preview' },
    reveal(id: string): void {
      const found = unverified.get(id);
      if (!found) return;
      const { solanaAddress, evmAddress } = found;
      change(new Map([[id, { solanaAddress, evmAddress }]]));
    },
    rename: (id: string, handle: string) => change(new Map([[id, { handle }]])),
    /** Makes everybody who they are at this time. */
    moveTo: (time: number) => change(records.identitiesAt(time)),
    pnl(handle: string): Pnl | undefined {
      const user = byHandle.get(handle.toLowerCase());
      return numbers().get(handle.toLowerCase()) ?? (user && blankNumbers(user));
    },
    theses,
    addThesis(now: number, given = newThesis(Math.floor(now))): ThesisFrameData {
      const { authorAvatarUrl, tokenImageUrl, ...thesis } = given;
      theses().add(thesis);
      return given;
    },
    account: (wallet: string) => accounts().get(normalAddress(wallet)),
    callouts,
    addCallout(now: number): Callout | undefined {
      const posts = history().callouts;
      if (posts.length === 0) return undefined;
      const id = randomHex(randomCallouts, 24);
      const createdAt = Math.floor(now);
      const callout = {
        ...pick(randomCallouts, posts),
        id,
        createdAt,
        multiple: 1,
        maxMultiplier: 1,
      };
      callouts().add(callout);
      return callout;
    },
    board: (period: BoardPeriod, at: number): Board =>
      boards().find((board) => board.period === period && (board.capturedAt ?? 0) <= at) ?? {
        period,
        capturedAt: null,
        count: 0,
        entries: [],
      },
  };
}

/** In the order of their times. Among posts of the same time, the first one counts as the oldest. */
function createFeed<T extends { readonly id: string }>(
  posts: readonly T[],
  timeOf: (post: T) => number | null,
) {
  const rowOf = (post: T) => ({ post, time: timeOf(post) ?? 0, hiddenUntil: 0 });
  const rows = posts.map(rowOf).sort((one, other) => one.time - other.time);
  const byId = new Map(rows.map((row) => [row.post.id, row]));
  return {
    /** From new to old; null if `before` is unknown or hidden. `before` may be a post that does not match. */
    slice(before: string | undefined, limit: number, now: number, matches = (_: T) => true) {
      const isShown = (row: (typeof rows)[number]) => row.time <= now && row.hiddenUntil <= now;
      const start = before === undefined ? undefined : byId.get(before);
      if (before !== undefined && (!start || !isShown(start))) return null;
      const items: T[] = [];
      for (let at = start ? rows.lastIndexOf(start) : rows.length; at > 0; ) {
        const row = rows[--at];
        if (!row || !isShown(row) || !matches(row.post)) continue;
        if (items.length === limit) return { items, hasMore: true };
        items.push(row.post);
      }
      return { items, hasMore: false };
    },
    add(post: T): void {
      if (byId.has(post.id)) return;
      const row = rowOf(post);
      byId.set(post.id, row);
      rows.splice(rows.findLastIndex(({ time }) => time <= row.time) + 1, 0, row);
    },
    remove(id: string): void {
      const row = byId.get(id);
      if (row && byId.delete(id)) rows.splice(rows.lastIndexOf(row), 1);
    },
    /** Hides a post from pages until a time. Then the post appears below newer posts. */
    withhold(id: string, until: number): void {
      const row = byId.get(id);
      if (row) row.hiddenUntil = until;
    },
    count: () => rows.length,
  };
}

/** The records by their keys. If several records have the same key, the first one is found. */
function firstBy<T>(
  records: readonly T[],
  keysOf: (record: T) => readonly string[],
): Map<string, T> {
  const pairs = records.flatMap((record) =>
    keysOf(record).map((key): [string, T] => [key, record]),
  );
  return new Map(pairs.reverse());
}

const handlesOf = ({ handle }: User): string[] => [handle.toLowerCase()];

const isOther = (user: User, identity: Partial<Identity>): boolean =>
  (['handle', 'solanaAddress', 'evmAddress'] as const).some(
    (name) => identity[name] !== undefined && identity[name] !== user[name],
  );

function take<T>(map: Map<string, T>, key: string): T | undefined {
  const value = map.get(key);
  map.delete(key);
  return value;
}

const walletsOf = ({ solanaAddress, evmAddress }: User): string[] =>
  [solanaAddress, evmAddress].flatMap((address) =>
    address === null ? [] : normalAddress(address),
  );

const blankNumbers = ({ handle, name, profilePicture, solanaAddress, evmAddress }: User): Pnl => ({
  handle,
  displayName: name,
  avatarUrl: profilePicture,
  ...{ twitter: null, followers: null, updatedAt: null },
  wallet: solanaAddress,
  evmWallet: evmAddress,
  windows: { '24h': null, '7d': null, '30d': null, all: null },
});

/** Normalizes an address as the service does: EVM in lower case, anything else unchanged. */
export const normalAddress = (address: string): string =>
  /^0x/i.test(address) ? address.toLowerCase() : address;
