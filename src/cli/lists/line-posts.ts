import { usageError } from '../../base/failure.ts';
import { parseJson } from '../../base/json.ts';
import { isRecord } from '../../base/json-object.ts';
import { ScratchFile } from '../../base/scratch-file.ts';
import { timeFields } from '../../core/pages/feeds.ts';
import { type PageRow, pageRow } from '../../core/pages/post.ts';
import type { AskedPage, FeedPage, PageSource } from '../../core/pages/source.ts';

/** The posts of a page: so few that their memory is soon free again. */
const PAGE = 200;

/**
 * The lines of posts. They are not kept in memory, because files may have more of them than it has
 * room for.
 */
export class PostLines {
  readonly #file = new ScratchFile();
  /** Where each line begins, and where the next one will. */
  readonly #starts = [0];

  /** Returns the number of the line. */
  add(line: Buffer): number {
    this.#starts.push(this.#file.add(line) + line.length);
    return this.#starts.length - 2;
  }

  compare(one: number, other: number): number {
    // The bytes of a line are valid until another one is read.
    return Buffer.compare(Buffer.from(this.#bytesOf(one)), this.#bytesOf(other));
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

/** A post of files, and the number of its line. */
interface LinePost {
  readonly post: { readonly id: string | null };
  readonly line: number;
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
    const from = before === undefined ? 0 : (this.#ends.get(before) ?? this.#placeBelow(before));
    const to = from + PAGE;
    const rows = this.#posts.slice(from, to).map(({ line }) => this.#lines.rowOf(line));
    const nextBefore = rows.at(-1)?.id ?? null;
    this.#ends.set(nextBefore, to);
    return { rows, hasMore: to < this.#posts.length, nextBefore };
  }

  #placeBelow(id: string): number {
    const at = this.#posts.findIndex(({ post }) => post.id === id);
    if (at >= 0) return at + 1;
    throw usageError(`no thesis ${id} in the files`, 'pass the id of one that they have');
  }
}
