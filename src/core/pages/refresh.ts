import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { textOf } from '../../base/json-object.ts';
import { unitsText } from '../../base/units.ts';
import { cu, THESIS_BLOCK } from '../../contract/limits.ts';
import type { Client } from '../../contract/ports/client.ts';
import type { Sent } from '../../contract/read-record.ts';
import { isUserId } from '../lookup/subject.ts';
import { type ThesisScope, thesisFeed } from './feeds.ts';
import { postIdOf, postTimeOf, usableTime } from './post.ts';
import { type PageFeed, readPages, stopCodeOf } from './read-pages.ts';

/** A post as a file has it. */
export interface RecordedPost {
  readonly id: string;
  /** Epoch ms; null if the post has no readable time. */
  readonly at: number | null;
  readonly record: Sent;
}

/** The recorded posts that are in the pages of one author, or of one token. */
export interface PostGroup {
  readonly scope: ThesisScope;
  readonly posts: readonly RecordedPost[];
  /** The pages down to the oldest of these posts, if posts are as frequent as in the files. */
  readonly pages: number;
}

/** How recorded posts can be read again. */
export interface RefreshWay {
  readonly groups: readonly PostGroup[];
  /**
   * The posts with neither an author nor a token, so that it is not known which pages contain them.
   */
  readonly unaddressed: readonly RecordedPost[];
}

/** A post is in every page so long after its time. */
const SETTLED_MS = 120_000;
/** The shortest time over which the frequency of posts is measured. */
const SHORTEST_SPAN_MS = 86_400_000;
/** So many older posts in a row end a walk. A single one may have a wrong time. */
const OLDER_POSTS = 3;
/** A post is gone if so many complete walks lack it. */
const WALKS = 2;
/** An end of the pages before all posts are found is believed after so many empty pages. */
const ENDS = 2;
/**
 * What a walk may need beyond the expected pages: one that is not full, and those that confirm the
 * end.
 */
const SPARE_PAGES = 1 + ENDS;

/** The cheaper way: the pages of the authors, or those of the tokens. */
export function cheaperWay(posts: readonly RecordedPost[], now: number): RefreshWay {
  const byAuthor = grouped(posts, now, [authorOf, tokenOf]);
  const byToken = grouped(posts, now, [tokenOf, authorOf]);
  return pagesOf(byToken) < pagesOf(byAuthor) ? byToken : byAuthor;
}

const pagesOf = ({ groups }: RefreshWay): number =>
  groups.reduce((sum, { pages }) => sum + pages, 0);

/** The most pages of a group: two complete walks. */
export const mostPages = ({ pages }: PostGroup): number => WALKS * (pages + SPARE_PAGES);

type ScopeOf = (post: RecordedPost) => ThesisScope | undefined;

const authorOf: ScopeOf = ({ record }) => {
  const userId = textOf(record['authorId'])?.toLowerCase();
  return userId !== undefined && isUserId(userId) ? { userId } : undefined;
};

/** EVM addresses are the same in upper and lower case; others are not. */
const tokenOf: ScopeOf = ({ record }) => {
  const address = textOf(record['tokenAddress']) ?? '';
  if (!/^[\w:-]{1,128}$/.test(address)) return undefined;
  return { tokenAddress: /^0x/i.test(address) ? address.toLowerCase() : address };
};

/** Groups posts by the first scope that each has. */
function grouped(
  posts: readonly RecordedPost[],
  now: number,
  scopes: readonly ScopeOf[],
): RefreshWay {
  const groups = new Map<string, { scope: ThesisScope; posts: RecordedPost[] }>();
  const unaddressed: RecordedPost[] = [];
  for (const post of posts) {
    const [scope] = scopes.flatMap((scopeOf) => scopeOf(post) ?? []);
    if (scope === undefined) {
      unaddressed.push(post);
      continue;
    }
    const key = JSON.stringify(scope);
    const group = groups.get(key) ?? { scope, posts: [] };
    groups.set(key, group);
    group.posts.push(post);
  }
  const times = timesOf(posts);
  const span = Math.max(SHORTEST_SPAN_MS, (times.newest ?? 0) - (times.oldest ?? 0));
  const average = posts.length / Math.max(1, groups.size);
  return {
    unaddressed,
    groups: [...groups.values()].map((group) => {
      const since = Math.max(0, now - (timesOf(group.posts).oldest ?? now));
      const frequency = Math.max(group.posts.length, average) / span;
      const rows = Math.max(group.posts.length, frequency * since);
      return { ...group, pages: Math.ceil(rows / THESIS_BLOCK) };
    }),
  };
}

function timesOf(posts: Iterable<RecordedPost>) {
  let oldest: number | undefined;
  let newest: number | undefined;
  for (const { at } of posts) {
    if (at === null) continue;
    oldest = Math.min(at, oldest ?? at);
    newest = Math.max(at, newest ?? at);
  }
  return { oldest, newest };
}

export interface RefreshNeeds {
  readonly client: Pick<Client, 'call' | 'affords'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The most pages to request; undefined if another limit applies. */
  readonly pages: number | undefined;
  readonly onGroup: (done: number) => void;
}

/**
 * Reads recorded posts again. What it has found is there even if it fails halfway, because it was
 * paid for.
 */
export class PostRefresh {
  /** The posts as they are now, by id. */
  readonly present = new Map<string, Sent>();
  /** The ids of the posts that all walks lack. */
  readonly gone = new Set<string>();
  /** What ended the reading, or the first walk that could not be completed. */
  failure: unknown;
  readonly #needs: RefreshNeeds;
  #pages = 0;

  constructor(needs: RefreshNeeds) {
    this.#needs = needs;
  }

  async run(groups: readonly PostGroup[]): Promise<void> {
    const lacking = new Map(groups.map((group) => [group, group.posts]));
    try {
      for (let walk = 1; walk <= WALKS; walk++) {
        for (const [group, posts] of lacking) {
          // All groups are walked once before the second time, so that a post has time to reappear.
          this.#needs.onGroup(groups.indexOf(group));
          const isComplete = await this.#walk(group, posts);
          const rest = posts.filter(({ id }) => !this.present.has(id));
          if (isComplete && rest.length > 0) lacking.set(group, rest);
          else lacking.delete(group);
        }
      }
    } catch (error) {
      this.failure = error;
      return;
    }
    const settled = this.#needs.clock.now() - SETTLED_MS;
    for (const { id, at } of [...lacking.values()].flat())
      if (at === null || at <= settled) this.gone.add(id);
  }

  /**
   * Whether the walk was complete. A failure that says nothing about other pages does not end the
   * run.
   */
  async #walk(group: PostGroup, posts: readonly RecordedPost[]): Promise<boolean> {
    try {
      await this.#read(group, posts);
      return true;
    } catch (error) {
      if (!(error instanceof Failure) || !isOfThisGroup(error)) throw error;
      this.failure ??= error;
      return false;
    }
  }

  /**
   * Reads until all posts are found, or until older ones or a confirmed end show that the others
   * are not there.
   */
  async #read({ scope }: PostGroup, posts: readonly RecordedPost[]): Promise<void> {
    const wanted = new Map(posts.map((post) => [post.id, post]));
    const { clock, signal } = this.#needs;
    let older = 0;
    let nameless = 0;
    const reading = { clock, signal, doubtsEnd: true };
    for await (const { page, ends } of readPages(this.#feed(scope), reading, () => THESIS_BLOCK)) {
      for (const item of page.items) {
        const id = postIdOf(item);
        if (id === undefined) nameless++;
        else if (wanted.delete(id)) this.present.set(id, item);
      }
      const isTimed = [...wanted.values()].every(({ at }) => at !== null);
      const oldest = isTimed ? timesOf(wanted.values()).oldest : undefined;
      if (wanted.size === 0) return;
      // Any of the posts without an id may be one that is looked for.
      if (nameless > 0) throw withoutIds();
      if (ends === ENDS) return;
      for (const item of page.items) {
        const at = usableTime(postTimeOf(item['platformCreatedAt']), clock.now());
        if (at === null || oldest === undefined) continue;
        older = at < oldest ? older + 1 : 0;
        if (older === OLDER_POSTS) return;
      }
    }
  }

  /** The pages of an author or token, as many as the plan has. */
  #feed(scope: ThesisScope): PageFeed<Sent> {
    const feed = thesisFeed(this.#needs.client, scope);
    return {
      idOf: feed.idOf,
      page: async (before, rows, signal) => {
        if (this.#pages === this.#needs.pages) throw planUsedUp(this.#pages);
        this.#pages++;
        return await feed.page(before, rows, signal);
      },
    };
  }
}

const withoutIds = () =>
  new Failure('answer', 'a page has posts without an id, so what is gone cannot be told', {
    code: 'NO_ID',
    hint: { about: 'noIds' },
  });

const isOfThisGroup = (error: Failure): boolean =>
  stopCodeOf(error) !== undefined ||
  error.kind === 'answer' ||
  error.kind === 'missing' ||
  error.kind === 'usage';

const planUsedUp = (pages: number) =>
  new Failure(
    'limit',
    `the planned ${unitsText(pages * cu.thesisBlock)} are used up: there are more posts than the files let expect`,
    { code: 'CEILING', hint: { about: 'plannedPages' } },
  );
