import { DistinctTexts } from '../../base/distinct-texts.ts';
import { usageError } from '../../base/failure.ts';
import { textOf } from '../../base/json-object.ts';
import type { LookupPlan } from '../../core/lookup/cached-lookup.ts';
import type { LookupAnswer } from '../../core/lookup/lookup.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { normalName } from '../../core/pages/filter.ts';
import { gatherPosts } from '../../core/pages/gather.ts';
import type { ReadPosts } from '../../core/pages/saved-pages.ts';
import { type PositionPost, positionPost } from '../../core/positions/positions.ts';
import type { Filters } from '../../tail/certificate.ts';
import { filesToVerify } from '../../verify/files.ts';
import type { Compared } from '../../verify/join.ts';
import { certifiedFiles, type Vouched, vouchedFor } from '../../verify/vouched.ts';
import { type RangeFlags, readRange } from '../args/list-flags.ts';
import type { Context } from '../run/context.ts';
import type { PlannedPosts } from './feed-reader.ts';
import { type FilePost, FilePosts } from './file-posts.ts';
import { type AskedTheses, narrowed, type Theses } from './served-theses.ts';

/** The posts of which certificates may say that the files have all. */
interface AskedOfFiles {
  readonly users: readonly string[];
  readonly tokens: readonly string[];
  readonly filters?: Filters;
}

/** The theses of files, and what certificates vouch for. Nothing is sent. */
export class RecordedTheses implements Theses {
  readonly posts: FilePosts;
  readonly #context: Context;
  readonly #range: RangeFlags;
  readonly #certified: readonly Compared[];
  readonly #texts = new DistinctTexts();
  #index: AuthorIndex | undefined;

  private constructor(
    context: Context,
    range: RangeFlags,
    posts: FilePosts,
    certified: readonly Compared[],
  ) {
    this.#context = context;
    this.#range = range;
    this.#certified = certified;
    this.posts = posts;
  }

  /** Made on demand, because it is as large as the posts are many. */
  get #authors(): AuthorIndex {
    this.#index ??= indexOf(this.posts.all);
    return this.#index;
  }

  static async read(
    context: Context,
    from: readonly string[],
    range: RangeFlags,
  ): Promise<RecordedTheses> {
    const { terminal } = context;
    const files = filesToVerify(from);
    const read = async () => {
      const posts = await FilePosts.read(files, terminal);
      const certified = await certifiedFiles(files, terminal.signal);
      return new RecordedTheses(context, range, posts, certified);
    };
    return await terminal.waits.during(() => 'reading the files', read);
  }

  /** The ids of all authors, each once, in lower case. */
  get authors(): Iterable<string> {
    return this.#authors.posts.keys();
  }

  /** The id of an author as the newest post has it; undefined without posts. */
  idOf({ type, normal, text }: Subject): string | undefined {
    if (type === 'wallet')
      throw usageError(`${text}: posts name no wallets`, 'pass the handle or the user id');
    const id = type === 'id' ? normal : (this.#authors.byHandle.get(normal) ?? '');
    const newest = this.#authors.posts.get(id)?.[0];
    return newest && textOf(this.posts.record(newest)['authorId']);
  }

  /** Who the subjects are, as a lookup of the service would say. */
  planAll(subjects: readonly Subject[]): readonly LookupPlan[] {
    const obtained = { time: this.#context.terminal.io.clock.now(), from: 'file' } as const;
    return subjects.map((subject) => {
      const id = this.idOf(subject);
      const answer: LookupAnswer =
        id === undefined
          ? { found: false, code: 'NOT_RECORDED', ...obtained }
          : { found: true, record: { id }, ...obtained };
      return { subject, calls: [], answer, find: () => answer };
    });
  }

  async plan(asked: AskedTheses): Promise<PlannedPosts<PositionPost>> {
    return { calls: [], read: (signal) => this.#read(asked, signal) };
  }

  async #read(
    { userId, tokens, limit }: AskedTheses,
    signal: AbortSignal,
  ): Promise<ReadPosts<PositionPost>> {
    const { clock } = this.#context.terminal.io;
    const walk = { ...this.#rangeAt(clock.now()), limit, clock, signal };
    const posts = this.posts.sourceOf(this.#feedOf(userId, tokens));
    const read = await gatherPosts(posts, walk, (row) => positionPost(row, this.#texts));
    const users = userId === undefined ? [] : [userId];
    const { isWhole, hasStart, readAt } = this.vouchedFor({ users, tokens });
    const complete = read.complete && isWhole && hasStart;
    return narrowed({ ...read, complete, readAt, via: 'file' }, tokens);
  }

  /** The posts that are one feed of the service. */
  #feedOf(userId: string | undefined, tokens: readonly string[]): readonly FilePost[] {
    const isOwn = userId !== undefined;
    const posts = isOwn ? (this.#authors.posts.get(normalName(userId)) ?? []) : this.posts.all;
    if (tokens.length !== 1) return posts;
    // What an author posts without saying what it is about may be about this token.
    return posts.filter(
      ({ tokenAddress }) => tokens.includes(tokenAddress) || (isOwn && tokenAddress === ''),
    );
  }

  vouchedFor({ users, tokens, filters = {} }: AskedOfFiles): Vouched {
    const now = this.#context.terminal.io.clock.now();
    const asked = { ...this.#rangeAt(now), now, users, tokens, filters };
    return vouchedFor(this.#certified, asked);
  }

  #rangeAt(now: number) {
    return readRange(this.#range, now, this.#context.settings.utc);
  }
}

interface AuthorIndex {
  /** The posts of each author, newest first, by the id in lower case. */
  readonly posts: ReadonlyMap<string, readonly FilePost[]>;
  /** The id of the author who had a handle last. */
  readonly byHandle: ReadonlyMap<string, string>;
}

function indexOf(posts: readonly FilePost[]): AuthorIndex {
  const byAuthor = new Map<string, FilePost[]>();
  const byHandle = new Map<string, string>();
  for (const post of posts) {
    const { authorId: id, authorHandle: handle } = post;
    if (id === '') continue;
    const own = byAuthor.get(id);
    if (own) own.push(post);
    else byAuthor.set(id, [post]);
    if (!byHandle.has(handle)) byHandle.set(handle, id);
  }
  return { posts: byAuthor, byHandle };
}
