import { setImmediate } from 'node:timers/promises';
import { usageError } from '../../base/failure.ts';
import { parseJson } from '../../base/json.ts';
import { isRecord } from '../../base/json-object.ts';
import { ScratchFile } from '../../base/scratch-file.ts';
import { timeFields } from '../../core/pages/feeds.ts';
import { type PageRow, pageRow } from '../../core/pages/post.ts';
import type { AskedPage, FeedPage, PageSource } from '../../core/pages/source.ts';
import { compareVersions, positionPosts } from '../../core/positions/positions.ts';
import type { KeptPosts, PostFacts } from './file-posts.ts';

/** The posts of a page: so few that their memory is soon free again. */
const PAGE = 50;

/** What is known of a post without its line. */
interface LinePost extends PostFacts {
  /** The number of the line. */
  readonly line: number;
}

/**
 * The posts of lists: their lines are read again when they are printed. They are not kept in
 * memory, because files may have more of them than it has room for.
 */
export class PostLines implements KeptPosts<LinePost> {
  readonly #file = new ScratchFile();
  readonly #positions = positionPosts();
  /** Where each line begins, and where the next one will. */
  readonly #starts = [0];

  keep(row: PageRow, bytes: Buffer): LinePost {
    const post = this.#positions.keep(row);
    const { id, at, writtenAt, close, authorId, authorHandle, token, network, symbol } = post;
    const line = this.#starts.push(this.#file.add(bytes) + bytes.length) - 2;
    return { id, at, writtenAt, close, authorId, authorHandle, token, network, symbol, line };
  }

  compare(one: LinePost, other: LinePost): number {
    return compareVersions(one, other, (post) => this.#textOf(post));
  }

  /** What a position would keep of a post; then, its line. */
  #textOf({ line, at }: LinePost): string {
    const post = this.#positions.keep({ ...this.rowOf(line), at });
    return `${JSON.stringify(post)} ${this.#bytesOf(line).toString('latin1')}`;
  }

  /** The row of a line, with the digits of its numbers. */
  rowOf(line: number): PageRow {
    const record = parseJson(this.#bytesOf(line).toString('utf8'));
    return pageRow(isRecord(record) ? record : {}, timeFields.thesis);
  }

  #bytesOf(line: number): Buffer {
    const [from = 0, to = from] = this.#starts.slice(line, line + 2);
    return this.#file.read(from, to - from);
  }
}

/** The posts of files as pages. */
export class FilePages implements PageSource {
  readonly sizes = { step: PAGE, max: PAGE };
  readonly stepCu = 0;
  readonly #posts: readonly LinePost[];
  readonly #lines: PostLines;
  /** Where the pages end that were read, by the ids of their last posts. */
  readonly #ends = new Map<string | null, number>();

  constructor(posts: readonly LinePost[], lines: PostLines) {
    this.#posts = posts;
    this.#lines = lines;
  }

  async page({ before }: AskedPage): Promise<FeedPage> {
    // Signals are noticed meanwhile, however long a pattern takes on each post.
    await setImmediate();
    const from = before === undefined ? 0 : (this.#ends.get(before) ?? this.#placeBelow(before));
    const to = from + PAGE;
    const rows = this.#posts.slice(from, to).map(({ line }) => this.#lines.rowOf(line));
    const nextBefore = rows.at(-1)?.id ?? null;
    this.#ends.set(nextBefore, to);
    return { rows, hasMore: to < this.#posts.length, nextBefore };
  }

  #placeBelow(id: string): number {
    const at = this.#posts.findIndex((post) => post.id === id);
    if (at >= 0) return at + 1;
    throw usageError(`no thesis ${id} in the files`, 'pass the id of one that they have');
  }
}
