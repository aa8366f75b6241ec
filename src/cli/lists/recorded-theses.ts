import { usageError } from '../../base/failure.ts';
import { textOf } from '../../base/json-object.ts';
import { countText } from '../../base/units.ts';
import type { Sent } from '../../contract/read-record.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { createFilter, normalName } from '../../core/pages/filter.ts';
import { gatherPosts } from '../../core/pages/gather.ts';
import { isLaterVersion, postIdOf, postTimeOf } from '../../core/pages/post.ts';
import type { ReadPosts } from '../../core/pages/saved-pages.ts';
import type { TimedFeed } from '../../core/pages/walk.ts';
import type { Filters } from '../../tail/certificate.ts';
import type { TailRow } from '../../tail/post-row.ts';
import { filesToVerify } from '../../verify/files.ts';
import type { Compared } from '../../verify/join.ts';
import { recordedPosts } from '../../verify/recorded-posts.ts';
import { certifiedFiles, type Vouched, vouchedFor } from '../../verify/vouched.ts';
import { type RangeFlags, readRange } from '../args/list-flags.ts';
import type { Context } from '../run/context.ts';
import type { Terminal } from '../run/terminal.ts';

/** What is kept of a post with this id. */
export type KeptPost = (record: Sent, id: string) => Sent;

/** The theses of files, one file after the other. */
export async function* thesesIn(
  files: readonly string[],
  { io, signal, notice }: Pick<Terminal, 'io' | 'signal' | 'notice'>,
  kept?: KeptPost,
): AsyncGenerator<readonly TailRow[], void, void> {
  const input = { stdin: io.stdin, signal, isLean: kept !== undefined };
  let others = 0;
  for (const file of files) {
    const rows: TailRow[] = [];
    let lines = 0;
    for await (const row of recordedPosts(file, 'platformCreatedAt', input)) {
      lines++;
      if (row && isThesis(row.record))
        rows.push(kept ? { ...row, record: kept(row.record, row.id) } : row);
    }
    // A part of a rotated file may be empty.
    if (rows.length === 0 && lines > 0) throw withoutTheses(file);
    others += lines - rows.length;
    yield rows;
  }
  if (others > 0)
    notice(`skipped ${countText(others, 'line that is not a post', 'lines that are not posts')}`);
}

/** A record of anything else has an id too, such as that of a user. */
const isThesis = (record: Sent): boolean =>
  ['authorId', 'authorHandle', 'tokenAddress', 'platformCreatedAt'].some((name) => name in record);

export const withoutTheses = (file: string) =>
  usageError(`no theses in ${file}`, 'pass an output of "trdr thesis tail" or "trdr thesis list"');

interface PlacedPost {
  readonly record: Sent;
  /** The time by which the post is placed: its own may be missing. */
  readonly place: number;
}

/** The theses of files as one list: each once, as it was written last, newest first. */
async function readTheses(
  files: readonly string[],
  terminal: Pick<Terminal, 'io' | 'signal' | 'notice'>,
  kept?: KeptPost,
): Promise<readonly Sent[]> {
  const posts = new Map<string, PlacedPost>();
  for await (const rows of thesesIn(files, terminal, kept)) {
    // A post without a time belongs to its neighbors. Tails write the oldest post first.
    let place = Number.POSITIVE_INFINITY;
    for (const { id, at, record } of isRising(rows) ? rows.toReversed() : rows) {
      place = at ?? place;
      const before = posts.get(id);
      if (before === undefined || isLaterVersion(record, before.record))
        posts.set(id, { record, place });
    }
  }
  return [...posts.values()]
    .sort((one, other) => (one.place === other.place ? 0 : other.place - one.place))
    .map(({ record }) => record);
}

function isRising(rows: readonly TailRow[]): boolean {
  let last: number | null = null;
  let rises = 0;
  for (const { at } of rows) {
    if (at !== null && last !== null) rises += Math.sign(at - last);
    last = at ?? last;
  }
  return rises > 0;
}

/** Which theses of files are asked for. */
interface AskedTheses extends RangeFlags {
  /** The ids of the authors, and the addresses of the tokens; empty for all. */
  readonly users: readonly string[];
  readonly tokens: readonly string[];
  /** The most theses; undefined if there is no maximum. */
  readonly rows?: number | undefined;
  readonly filters?: Filters;
}

/** The theses of files, and what certificates vouch for. Nothing is sent. */
export class RecordedTheses {
  /** Newest first. */
  readonly posts: readonly Sent[];
  readonly #context: Context;
  readonly #certified: readonly Compared[];

  private constructor(context: Context, posts: readonly Sent[], certified: readonly Compared[]) {
    this.#context = context;
    this.posts = posts;
    this.#certified = certified;
  }

  static async read(
    context: Context,
    from: readonly string[],
    kept?: KeptPost,
  ): Promise<RecordedTheses> {
    const { terminal } = context;
    const files = filesToVerify(from);
    const read = async () => {
      const posts = await readTheses(files, terminal, kept);
      return new RecordedTheses(context, posts, await certifiedFiles(files, terminal.signal));
    };
    return await terminal.waits.during(() => 'reading the files', read);
  }

  /** The ids of all authors, each once, in lower case. */
  get authors(): Iterable<string> {
    return new Set(this.posts.flatMap((post) => normalName(textOf(post['authorId']) ?? '') || []));
  }

  vouchedFor({ users, tokens, filters = {}, ...range }: AskedTheses): Vouched {
    const { now } = this;
    const asked = { ...this.#rangeOf(range), now, users, tokens, filters };
    return vouchedFor(this.#certified, asked);
  }

  /** The theses of a range among `posts`, as far as --limit goes. */
  async gather(posts: readonly Sent[], asked: AskedTheses): Promise<ReadPosts> {
    const { clock } = this.#context.terminal.io;
    const walk = { ...this.#rangeOf(asked), limit: asked.rows, clock };
    const read = await gatherPosts(feedOfPosts(posts.filter(about(asked.tokens))), walk);
    const { isWhole, hasStart, readAt } = this.vouchedFor(asked);
    return { ...read, complete: read.complete && isWhole && hasStart, readAt, via: 'file' };
  }

  get now(): number {
    return this.#context.terminal.io.clock.now();
  }

  #rangeOf(range: RangeFlags) {
    return readRange(range, this.now, this.#context.settings.utc);
  }
}

export const about = (tokens: readonly string[]): ((record: Sent) => boolean) => {
  const isAbout = createFilter<{ readonly record: Sent }>({ tokens });
  return (record) => isAbout({ record });
};

/** Posts that were read before, as a feed with a single page. */
export const feedOfPosts = (posts: readonly Sent[]): TimedFeed<Sent> => ({
  async page(before) {
    const at = before === undefined ? 0 : posts.findIndex((post) => postIdOf(post) === before) + 1;
    if (before !== undefined && at === 0)
      throw usageError(`no thesis ${before} in the files`, 'pass the id of one that they have');
    return { items: posts.slice(at), hasMore: false, nextBefore: null };
  },
  idOf: postIdOf,
  timeOf: (post) => postTimeOf(post['platformCreatedAt']),
});

/** The authors of posts, which are read once, because subjects are looked up in many batches. */
export class AuthorsOfPosts {
  /** The posts of each author, newest first, by the id in lower case. */
  readonly #posts = new Map<string, Sent[]>();
  /** The id of the author who had a handle last. */
  readonly #byHandle = new Map<string, string>();

  /** The posts are newest first. */
  constructor(posts: readonly Sent[]) {
    for (const post of posts) {
      const id = normalName(textOf(post['authorId']) ?? '');
      if (id === '') continue;
      const own = this.#posts.get(id);
      if (own) own.push(post);
      else this.#posts.set(id, [post]);
      const handle = normalName(textOf(post['authorHandle']) ?? '');
      if (!this.#byHandle.has(handle)) this.#byHandle.set(handle, id);
    }
  }

  /** The id of an author as the newest post has it, and the posts; undefined without posts. */
  find({ type, normal, text }: Subject): RecordedAuthor | undefined {
    if (type === 'wallet')
      throw usageError(`${text}: posts name no wallets`, 'pass the handle or the user id');
    const posts = this.#posts.get(type === 'id' ? normal : (this.#byHandle.get(normal) ?? ''));
    const id = textOf(posts?.[0]?.['authorId']);
    return posts && id !== undefined ? { id, posts } : undefined;
  }
}

interface RecordedAuthor {
  readonly id: string;
  readonly posts: readonly Sent[];
}
