import type { LookupPlan } from '../../core/lookup/cached-lookup.ts';
import type { LookupAnswer } from '../../core/lookup/lookup.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import type { ReadPosts } from '../../core/pages/saved-pages.ts';
import { withoutTimes } from '../../core/pages/walk.ts';
import { type PositionPost, positionPosts } from '../../core/positions/positions.ts';
import { filesToVerify } from '../../verify/files.ts';
import { type AskedRange, certifiedFiles, type Vouched, Vouchers } from '../../verify/vouched.ts';
import { type RangeFlags, readRange } from '../args/list-flags.ts';
import type { Context } from '../run/context.ts';
import type { PlannedPosts } from './feed-reader.ts';
import { FilePosts, type KeptPosts, type PostFacts } from './file-posts.ts';
import { type AskedTheses, narrowed, type Theses } from './served-theses.ts';

/** The posts of files in a range, and what certificates vouch for. */
interface Recorded<P extends PostFacts> {
  readonly posts: FilePosts<P>;
  readonly range: AskedRange;
  readonly vouchers: Vouchers;
  readonly readAt: number;
}

export async function readRecorded<P extends PostFacts>(
  { terminal, settings }: Context,
  from: readonly string[],
  flags: RangeFlags,
  kept: KeptPosts<P>,
): Promise<Recorded<P>> {
  const readAt = terminal.io.clock.now();
  const range = readRange(flags, readAt, settings.utc);
  const files = filesToVerify(from);
  const read = async () => {
    const posts = await FilePosts.read(files, terminal, kept);
    checkTimes(posts, range);
    const certified = await certifiedFiles(files, terminal.signal);
    return { posts, range, vouchers: new Vouchers(certified, range, readAt), readAt };
  };
  return await terminal.waits.during(() => 'reading the files', read);
}

/** Refuses a range of posts that all lack a time: it would hold all of them or none. */
function checkTimes<P extends PostFacts>(
  { all, placeOf }: FilePosts<P>,
  { since, until }: AskedRange,
): void {
  if (all.length === 0 || all.some((post) => Number.isFinite(placeOf(post)))) return;
  if (since !== undefined) throw withoutTimes('--since');
  if (until !== undefined) throw withoutTimes('--until');
}

/** The theses of files as positions need them. Nothing is sent. */
export class RecordedTheses implements Theses {
  readonly #recorded: Recorded<PositionPost>;
  /** The authors whose posts were read. */
  readonly #users = new Set<string>();

  private constructor(recorded: Recorded<PositionPost>) {
    this.#recorded = recorded;
  }

  /** Undefined without files: the service is read then. */
  static async read(
    context: Context,
    from: readonly string[],
    flags: RangeFlags,
  ): Promise<RecordedTheses | undefined> {
    if (from.length === 0) return undefined;
    return new RecordedTheses(await readRecorded(context, from, flags, positionPosts()));
  }

  get posts(): FilePosts<PositionPost> {
    return this.#recorded.posts;
  }

  /** Who the subjects are, as a lookup of the service would say. */
  planAll(subjects: readonly Subject[]): readonly LookupPlan[] {
    const obtained = { time: this.#recorded.readAt, from: 'file' } as const;
    return subjects.map((subject) => {
      const id = this.posts.idOf(subject);
      const answer: LookupAnswer =
        id === undefined
          ? { found: false, code: 'NOT_RECORDED', ...obtained }
          : { found: true, record: { id }, ...obtained };
      return { subject, calls: [], answer, find: () => answer };
    });
  }

  async plan(asked: AskedTheses): Promise<PlannedPosts<PositionPost>> {
    const saved = this.#read(asked);
    return { calls: [], saved, read: async () => saved };
  }

  #read({ userId, tokens, limit }: AskedTheses): ReadPosts<PositionPost> {
    const feed = this.#feedOf(userId, tokens).filter((post) => this.#isInRange(post));
    const posts = feed.slice(0, limit);
    const users = userId === undefined ? [] : [userId];
    for (const user of users) this.#users.add(user);
    const { isWhole, hasStart, readAt } = this.#recorded.vouchers.for({
      users,
      tokens,
      filters: {},
    });
    const complete = posts.length === feed.length && isWhole && hasStart;
    return narrowed({ posts, complete, readAt, via: 'file' }, tokens);
  }

  /** What certificates vouch for of all that was read. */
  vouched(tokens: readonly string[]): Vouched {
    return this.#recorded.vouchers.for({ users: [...this.#users], tokens, filters: {} });
  }

  /** The posts that are one feed of the service. */
  #feedOf(userId: string | undefined, tokens: readonly string[]): readonly PositionPost[] {
    const isOwn = userId !== undefined;
    const posts = isOwn ? this.posts.by(userId) : this.posts.all;
    if (tokens.length !== 1) return posts;
    // What an author posts without saying what it is about may be about this token.
    return posts.filter(({ token }) => (token === null ? isOwn : tokens.includes(token)));
  }

  #isInRange(post: PositionPost): boolean {
    const { since, until } = this.#recorded.range;
    const place = this.posts.placeOf(post);
    return (since === undefined || place >= since) && (until === undefined || place < until);
  }
}
