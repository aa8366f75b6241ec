import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { textOf } from '../../base/json-object.ts';
import { unitsText } from '../../base/units.ts';
import { cu, THESIS_BLOCK } from '../../contract/limits.ts';
import type { Client } from '../../contract/ports/client.ts';
import type { Sent } from '../../contract/read-record.ts';
import { isUserId } from '../lookup/subject.ts';
import { type ThesisScope, thesisSource } from './feeds.ts';
import { normalToken } from './filter.ts';
import type { ReadingWay } from './merge.ts';
import { Density } from './page-size.ts';
import { Boundary } from './proof.ts';
import { readPages, stopCodeOf } from './read-pages.ts';
import type { PageSource } from './source.ts';

/** A post as a file has it. */
export interface RecordedPost {
  readonly id: string;
  /** Epoch ms; null if the post has no readable time. */
  readonly at: number | null;
  readonly record: Sent;
}

/** The recorded posts that are in the pages of one author, of one token, or of the whole feed. */
export interface PostGroup {
  readonly scope: ThesisScope;
  readonly posts: readonly RecordedPost[];
  /** The pages down to the oldest of these posts, if posts are as frequent as in the files. */
  readonly pages: number;
}

/** The pages of authors or tokens. */
interface OwnPages {
  readonly groups: readonly PostGroup[];
  /** The posts with neither an author nor a token, which only the whole feed has. */
  readonly unaddressed: readonly RecordedPost[];
}

/** How recorded posts can be read again. */
export interface RefreshWays extends OwnPages {
  /**
   * The whole feed, if it may take fewer pages than the groups, whose pages it has: only a page of
   * it shows how many posts there are down to the recorded ones.
   */
  readonly whole: PostGroup | undefined;
}

/** A post is in every page so long after its time. */
const SETTLED_MS = 120_000;
/** The shortest time over which the frequency of posts is measured. */
const SHORTEST_SPAN_MS = 86_400_000;
/** A post is gone if so many complete walks lack it. */
const WALKS = 2;
/** An end of the pages before all posts are found is believed after so many empty pages. */
const ENDS = 2;
/**
 * What a walk may need beyond the expected pages: one that is not full, and those that confirm the
 * end.
 */
const SPARE_PAGES = 1 + ENDS;

/** Below so many pages, a look at the whole feed could cost more than it saves. */
const WORTH_A_LOOK = 5;

/** The pages of the authors or those of the tokens, whichever are fewer, and the whole feed. */
export function refreshWays(posts: readonly RecordedPost[], now: number): RefreshWays {
  const byAuthor = grouped(posts, now, [authorOf, tokenOf]);
  const byToken = grouped(posts, now, [tokenOf, authorOf]);
  const own = pagesOf(byToken.groups) < pagesOf(byAuthor.groups) ? byToken : byAuthor;
  const pages = pagesOf(own.groups);
  // Without the time of each post it is not known where a walk through the whole feed ends.
  const isTimed = posts.every(({ at }) => at !== null);
  const isWorthALook = isTimed && pages >= WORTH_A_LOOK && fewestPages(posts) < pages;
  return { ...own, whole: isWorthALook ? { scope: {}, posts, pages } : undefined };
}

/** The expected pages. */
export const pagesOf = (groups: readonly PostGroup[]): number =>
  groups.reduce((sum, { pages }) => sum + pages, 0);

/** The fewest pages that have so many posts. */
export const fewestPages = ({ length }: readonly RecordedPost[]): number =>
  Math.ceil(length / THESIS_BLOCK);

/** The most pages of a group: two complete walks. */
export const mostPages = ({ pages }: PostGroup): number => WALKS * (pages + SPARE_PAGES);

type ScopeOf = (post: RecordedPost) => ThesisScope | undefined;

const authorOf: ScopeOf = ({ record }) => {
  const userId = textOf(record['authorId'])?.toLowerCase();
  return userId !== undefined && isUserId(userId) ? { userId } : undefined;
};

const tokenOf: ScopeOf = ({ record }) => {
  const address = textOf(record['tokenAddress']) ?? '';
  if (!/^[\w:-]{1,128}$/.test(address)) return undefined;
  return { tokenAddress: normalToken(address) };
};

/** Groups posts by the first scope that each has. */
function grouped(
  posts: readonly RecordedPost[],
  now: number,
  scopes: readonly ScopeOf[],
): OwnPages {
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
  readonly onProgress: (done: number, of: number) => void;
  /** Called with the way when it is chosen, and when a page shows that another one is cheaper. */
  readonly onWay: (way: ReadingWay) => void;
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

  async run({ whole, groups }: RefreshWays): Promise<void> {
    const { onWay } = this.#needs;
    try {
      const isWhole =
        whole !== undefined &&
        (await this.#walk(whole, whole.posts, (pages) => this.#isWorthIt(pages, whole.pages)));
      if (whole === undefined || this.failure !== undefined)
        onWay({ kind: 'own', wholePages: undefined });
      // A failure of the whole feed says nothing about the groups.
      this.failure = undefined;
      if (isWhole) await this.#walkAll([whole], WALKS - 1);
      else await this.#walkAll(groups, WALKS);
    } catch (error) {
      this.failure = error;
    }
  }

  /** Whether the whole feed takes no more pages than the groups. */
  #isWorthIt(pages: number, most: number): boolean {
    const { onWay, onProgress } = this.#needs;
    const isWhole = pages <= most;
    if (this.#pages === 1 || !isWhole)
      onWay({ kind: isWhole ? 'whole' : 'own', wholePages: pages });
    onProgress(this.#pages, pages);
    return isWhole;
  }

  /** Walks so many times through the pages of groups. A post that all walks lack is gone. */
  async #walkAll(groups: readonly PostGroup[], walks: number): Promise<void> {
    const lacking = new Map(groups.map((group) => [group, this.#lackingOf(group.posts)]));
    for (let walk = 1; walk <= walks; walk++) {
      for (const [group, posts] of lacking) {
        // All groups are walked once before the second time, so that a post has time to reappear.
        this.#needs.onProgress(groups.indexOf(group), groups.length);
        const isComplete = posts.length > 0 && (await this.#walk(group, posts));
        const rest = this.#lackingOf(posts);
        if (isComplete && rest.length > 0) lacking.set(group, rest);
        else lacking.delete(group);
      }
    }
    const settled = this.#needs.clock.now() - SETTLED_MS;
    for (const { id, at } of [...lacking.values()].flat())
      if (at === null || at <= settled) this.gone.add(id);
  }

  #lackingOf(posts: readonly RecordedPost[]): readonly RecordedPost[] {
    return posts.filter(({ id }) => !this.present.has(id));
  }

  /**
   * Whether the walk was complete. A failure that says nothing about other pages does not end the
   * run.
   */
  async #walk(
    { scope }: PostGroup,
    posts: readonly RecordedPost[],
    isWorthIt = (_: number) => true,
  ): Promise<boolean> {
    try {
      return await this.#read(scope, posts, isWorthIt);
    } catch (error) {
      if (!(error instanceof Failure) || !isOfThisFeed(error)) throw error;
      this.failure ??= error;
      return false;
    }
  }

  /**
   * Reads until all posts are found, or until older ones or a confirmed end show that the others
   * are not there. Returns false if it ends before that, because the pages that are expected in all
   * are not worth it.
   */
  async #read(
    scope: ThesisScope,
    posts: readonly RecordedPost[],
    isWorthIt: (pages: number) => boolean,
  ): Promise<boolean> {
    const wanted = new Map(posts.map((post) => [post.id, post]));
    const { clock, signal } = this.#needs;
    const end = new Boundary();
    const density = new Density();
    let nameless = 0;
    const reading = { clock, signal, endProof: ENDS };
    for await (const { page } of readPages(this.#source(scope), reading)) {
      for (const { id, record } of page.rows) {
        if (id === null) nameless++;
        else if (wanted.delete(id)) this.present.set(id, record);
      }
      const isTimed = [...wanted.values()].every(({ at }) => at !== null);
      const oldest = isTimed ? timesOf(wanted.values()).oldest : undefined;
      const times = page.rows.map(({ at }) => at);
      density.take(times);
      const rows = oldest === undefined ? 0 : density.rowsDownTo(oldest);
      if (!isWorthIt(this.#pages + Math.ceil(rows / THESIS_BLOCK))) return false;
      if (wanted.size === 0) return true;
      // Any of the posts without an id may be one that is looked for.
      if (nameless > 0) throw withoutIds();
      for (const at of times) if (at !== null && oldest !== undefined) end.take(at < oldest);
      if (end.isReached) return true;
    }
    return true;
  }

  /** The pages of a feed, as many as the plan has. */
  #source(scope: ThesisScope): PageSource {
    const source = thesisSource(this.#needs.client, scope);
    return {
      ...source,
      page: async (ask, signal) => {
        if (this.#pages === this.#needs.pages) throw planUsedUp(this.#pages);
        this.#pages++;
        return await source.page(ask, signal);
      },
    };
  }
}

const withoutIds = () =>
  new Failure('answer', 'a page has posts without an id, so what is gone cannot be told', {
    code: 'NO_ID',
    hint: 'try again later; run "trdr doctor" to see how the service differs from its description',
  });

const isOfThisFeed = (error: Failure): boolean =>
  stopCodeOf(error) !== undefined ||
  error.kind === 'answer' ||
  error.kind === 'missing' ||
  error.kind === 'usage';

const planUsedUp = (pages: number) =>
  new Failure(
    'limit',
    `the planned ${unitsText(pages * cu.thesisBlock)} are used up: there are more posts than the files let expect`,
    { code: 'CEILING', hint: 'pass --max-cu N to read on' },
  );
