import { once } from '../../base/calls.ts';
import type {
  Board,
  BoardPeriod,
  Callout,
  LaunchpadUser,
} from '../../contract/records/launchpad.ts';
import type { Thesis, ThesisFrameData } from '../../contract/records/thesis.ts';
import type { User } from '../../contract/records/user.ts';
import { pick, randomHex, randomOf, randomUuid } from '../random.ts';
import { createFeed, type Feed } from './feed.ts';
import { firstBy } from './lookup-keys.ts';
import { Register } from './register.ts';
import type { WorldRecords } from './source.ts';

/** The people and posts of a sandbox. */
export interface World extends Register {
  isSample(id: string): boolean;
  rename(id: string, handle: string): void;
  /** Makes everybody who they are at this time. */
  moveTo(time: number): void;
  theses(): Feed<Thesis>;
  addThesis(now: number, post?: ThesisFrameData): ThesisFrameData;
  account(wallet: string): LaunchpadUser | undefined;
  callouts(): Feed<Callout>;
  addCallout(now: number): Callout | undefined;
  board(period: BoardPeriod, at: number): Board;
}

/**
 * The time `now` is an argument, because the clock belongs to the server. Resolves and renames
 * change the records.
 */
export function createWorld(records: WorldRecords, seed: number): World {
  const register = new Register(records);
  const history = once(() => ({ theses: records.theses(), callouts: records.callouts() }));
  const theses = once(() => createFeed(history().theses, (post) => post.platformCreatedAt));
  const callouts = once(() => createFeed(history().callouts, (post) => post.createdAt));
  const accounts = once(() => firstBy(records.accounts(), ({ wallet }) => [wallet]));
  const boards = once(() =>
    records.boards().toSorted((one, other) => (other.capturedAt ?? 0) - (one.capturedAt ?? 0)),
  );
  const randomTheses = randomOf(seed, 'live theses');
  const randomCallouts = randomOf(seed, 'live callouts');
  const newThesis = (now: number) => {
    const posts = history().theses;
    const blank = blankThesis(register.handles()[0] ?? null);
    const post = posts.length > 0 ? pick(randomTheses, posts) : blank;
    return liveThesis(post, randomUuid(randomTheses), now, register.userById(post.authorId ?? ''));
  };

  return Object.assign(register, {
    isSample: (id: string) => records.samples.has(id),
    rename: (id: string, handle: string) => register.change(new Map([[id, { handle }]])),
    moveTo: (time: number) => register.change(records.identitiesAt(time)),
    theses,
    addThesis(now: number, post = newThesis(Math.floor(now))) {
      const { authorAvatarUrl, tokenImageUrl, ...thesis } = post;
      theses().add(thesis);
      return post;
    },
    account: (wallet: string) => accounts().get(wallet),
    callouts,
    addCallout(now: number) {
      const posts = history().callouts;
      if (posts.length === 0) return undefined;
      const id = randomHex(randomCallouts, 24);
      const callout = {
        ...pick(randomCallouts, posts),
        id,
        createdAt: Math.floor(now),
        multiple: 1,
        maxMultiplier: 1,
      };
      callouts().add(callout);
      return callout;
    },
    board: (period: BoardPeriod, at: number) =>
      boards().find((board) => board.period === period && (board.capturedAt ?? 0) <= at) ??
      emptyBoard(period),
  });
}

/** Live theses need an author also in a world without a history. */
const blankThesis = (authorHandle: string | null): Thesis => ({
  id: '',
  authorHandle,
  thesis: 'Back soon.',
  platformCreatedAt: null,
});

/**
 * Live posts repeat those of the history, with new ids and times: they are about the same
 * positions.
 */
function liveThesis(
  post: Thesis,
  id: string,
  now: number,
  author: User | undefined,
): ThesisFrameData {
  const { authorHandle, tokenAddress, updatedAt } = post;
  return {
    ...post,
    id,
    platformCreatedAt: now,
    updatedAt: updatedAt && now,
    // The author may have been renamed.
    authorHandle: author?.handle ?? authorHandle,
    authorAvatarUrl: author?.profilePicture ?? null,
    tokenImageUrl: tokenAddress ? `https://images.example/token/${tokenAddress}.png` : null,
  };
}

/** What the service sends for a time before its first snapshot. */
const emptyBoard = (period: BoardPeriod): Board => ({
  period,
  capturedAt: null,
  count: 0,
  entries: [],
});
