import { usageError } from '../../base/failure.ts';
import { textOf } from '../../base/json-object.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { gatherPosts } from '../../core/pages/gather.ts';
import type { ReadPosts } from '../../core/pages/saved-pages.ts';
import type { Filters } from '../../tail/certificate.ts';
import { filesToVerify } from '../../verify/files.ts';
import type { Compared } from '../../verify/join.ts';
import { certifiedFiles, type Vouched, vouchedFor } from '../../verify/vouched.ts';
import { type RangeFlags, readRange } from '../args/list-flags.ts';
import type { Context } from '../run/context.ts';
import { type FilePost, FilePosts } from './file-posts.ts';

/** Which theses of files are asked for. */
interface AskedTheses extends RangeFlags {
  /** The ids of the authors, and the addresses of the tokens in lower case if EVM; empty for all. */
  readonly users: readonly string[];
  readonly tokens: readonly string[];
  /** The most theses; undefined if there is no maximum. */
  readonly rows?: number | undefined;
  readonly filters?: Filters;
}

/** The theses of files, and what certificates vouch for. Nothing is sent. */
export class RecordedTheses {
  readonly posts: FilePosts;
  readonly #context: Context;
  readonly #certified: readonly Compared[];

  private constructor(context: Context, posts: FilePosts, certified: readonly Compared[]) {
    this.#context = context;
    this.posts = posts;
    this.#certified = certified;
  }

  static async read(context: Context, from: readonly string[]): Promise<RecordedTheses> {
    const { terminal } = context;
    const files = filesToVerify(from);
    const read = async () => {
      const posts = await FilePosts.read(files, terminal);
      return new RecordedTheses(context, posts, await certifiedFiles(files, terminal.signal));
    };
    return await terminal.waits.during(() => 'reading the files', read);
  }

  /** The ids of all authors, each once, in lower case. */
  get authors(): Iterable<string> {
    return new Set(this.posts.all.map(({ authorId }) => authorId).filter((id) => id !== ''));
  }

  vouchedFor({ users, tokens, filters = {}, ...range }: AskedTheses): Vouched {
    const { now } = this;
    const asked = { ...this.#rangeOf(range), now, users, tokens, filters };
    return vouchedFor(this.#certified, asked);
  }

  /** The theses of a range among `posts`, as far as --limit goes. */
  async gather(posts: readonly FilePost[], asked: AskedTheses): Promise<ReadPosts> {
    const { io, signal } = this.#context.terminal;
    const walk = { ...this.#rangeOf(asked), limit: asked.rows, clock: io.clock, signal };
    const tokens = new Set(asked.tokens);
    const isAbout = ({ tokenAddress }: FilePost) => tokens.size === 0 || tokens.has(tokenAddress);
    const read = await gatherPosts(this.posts.positions(posts.filter(isAbout)), walk);
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

/** The authors of posts, which are read once, because subjects are looked up in many batches. */
export class AuthorsOfPosts {
  /** The posts of each author, newest first, by the id in lower case. */
  readonly #posts = new Map<string, FilePost[]>();
  /** The id of the author who had a handle last. */
  readonly #byHandle = new Map<string, string>();
  readonly #recorded: FilePosts;

  constructor(recorded: FilePosts) {
    this.#recorded = recorded;
    for (const post of recorded.all) {
      const { authorId: id, authorHandle: handle } = post;
      if (id === '') continue;
      const own = this.#posts.get(id);
      if (own) own.push(post);
      else this.#posts.set(id, [post]);
      if (!this.#byHandle.has(handle)) this.#byHandle.set(handle, id);
    }
  }

  /** The id of an author as the newest post has it, and the posts; undefined without posts. */
  find({ type, normal, text }: Subject): RecordedAuthor | undefined {
    if (type === 'wallet')
      throw usageError(`${text}: posts name no wallets`, 'pass the handle or the user id');
    const posts = this.#posts.get(type === 'id' ? normal : (this.#byHandle.get(normal) ?? ''));
    const newest = posts?.[0] && this.#recorded.position(posts[0]);
    const id = textOf(newest?.['authorId']);
    return posts && id !== undefined ? { id, posts } : undefined;
  }
}

interface RecordedAuthor {
  readonly id: string;
  readonly posts: readonly FilePost[];
}
