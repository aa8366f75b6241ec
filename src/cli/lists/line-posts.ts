import { DistinctTexts } from '../../base/distinct-texts.ts';
import { usageError } from '../../base/failure.ts';
import { parseJson } from '../../base/json.ts';
import { isRecord } from '../../base/json-object.ts';
import { ScratchFile } from '../../base/scratch-file.ts';
import { timeFields } from '../../core/pages/feeds.ts';
import { type PageRow, pageRow } from '../../core/pages/post.ts';
import type { AskedPage, FeedPage, PageSource } from '../../core/pages/source.ts';
import { positionPost } from '../../core/positions/positions.ts';
import type { FilePost, PostFacts, PostForm } from './file-posts.ts';

/** The posts of a page: so few that their memory is soon free again. */
const PAGE = 200;

/** What a post says of itself, and where its line is. */
export interface LinePost extends PostFacts {
  readonly lineAt: number;
  readonly bytes: number;
}

/**
 * The lines of posts. They are not kept in memory, because files may have more of them than it has
 * room for.
 */
export class PostLines implements PostForm<LinePost> {
  readonly #lines = new ScratchFile();
  readonly #texts = new DistinctTexts();

  keep(row: PageRow, line: Buffer): LinePost {
    const post = positionPost(row, this.#texts);
    const { authorId, authorHandle, token, network, symbol, writtenAt } = post;
    const lineAt = this.#lines.add(line);
    const bytes = line.length;
    return { authorId, authorHandle, token, network, symbol, writtenAt, lineAt, bytes };
  }

  isLater(one: LinePost, other: LinePost): boolean {
    return Buffer.compare(this.#lineOf(one), this.#lineOf(other)) > 0;
  }

  /** The posts as pages, with the digits of their numbers. */
  source(posts: readonly FilePost<LinePost>[]): PageSource {
    return new FilePages(posts, (post) => {
      const record = parseJson(this.#lineOf(post).toString('utf8'));
      return pageRow(isRecord(record) ? record : {}, timeFields.thesis);
    });
  }

  #lineOf({ lineAt, bytes }: LinePost): Buffer {
    return this.#lines.read(lineAt, bytes);
  }
}

class FilePages implements PageSource {
  readonly sizes = { step: PAGE, max: PAGE };
  readonly stepCu = 0;
  readonly #posts: readonly FilePost<LinePost>[];
  readonly #rowOf: (post: LinePost) => PageRow;
  /** Where the pages end that were read, by the ids of their last posts. */
  readonly #ends = new Map<string | null, number>();

  constructor(posts: readonly FilePost<LinePost>[], rowOf: (post: LinePost) => PageRow) {
    this.#posts = posts;
    this.#rowOf = rowOf;
  }

  async page({ before }: AskedPage): Promise<FeedPage> {
    const from = before === undefined ? 0 : (this.#ends.get(before) ?? this.#placeBelow(before));
    const to = from + PAGE;
    const rows = this.#posts.slice(from, to).map(({ post }) => this.#rowOf(post));
    const nextBefore = rows.at(-1)?.id ?? null;
    this.#ends.set(nextBefore, to);
    return { rows, hasMore: to < this.#posts.length, nextBefore };
  }

  #placeBelow(id: string): number {
    const at = this.#posts.findIndex(({ post }) => this.#rowOf(post).id === id);
    if (at >= 0) return at + 1;
    throw usageError(`no thesis ${id} in the files`, 'pass the id of one that they have');
  }
}
