import { setFlagsFromString } from 'node:v8';
import { DistinctTexts } from '../../base/distinct-texts.ts';
import { usageError } from '../../base/failure.ts';
import { isTooDeep, parseJson } from '../../base/json.ts';
import { isRecord, plainJson, textOf } from '../../base/json-object.ts';
import { ScratchFile } from '../../base/scratch-file.ts';
import { countText } from '../../base/units.ts';
import type { Sent } from '../../contract/read-record.ts';
import { timeFields } from '../../core/pages/feeds.ts';
import { normalName, normalToken } from '../../core/pages/filter.ts';
import { aheadText, type PageRow, pageRow, usable, writtenAt } from '../../core/pages/post.ts';
import type { AskedPage, FeedPage, PageSource } from '../../core/pages/source.ts';
import { recordedLines } from '../../verify/recorded-posts.ts';
import type { Terminal } from '../run/terminal.ts';

/**
 * What `read` makes of the lines of files that are theses: a list for each file. It returns
 * undefined for other lines.
 */
export async function* thesesIn<T>(
  files: readonly string[],
  { io, signal, notice }: Pick<Terminal, 'io' | 'signal' | 'notice'>,
  read: (line: Buffer) => T | undefined,
): AsyncGenerator<readonly T[], void, void> {
  let others = 0;
  for (const file of files) {
    const theses: T[] = [];
    let lines = 0;
    for await (const line of recordedLines(file, { stdin: io.stdin, signal })) {
      lines++;
      const thesis = read(line);
      if (thesis !== undefined) theses.push(thesis);
    }
    // A part of a rotated file may be empty.
    if (theses.length === 0 && lines > 0) throw withoutTheses(file);
    others += lines - theses.length;
    yield theses;
  }
  if (others > 0)
    notice(`skipped ${countText(others, 'line that is not a post', 'lines that are not posts')}`);
}

/** A record of anything else has an id too, such as that of a user. */
export const isThesis = (record: Sent): boolean =>
  ['authorId', 'authorHandle', 'tokenAddress', timeFields.thesis].some((name) => name in record);

export const withoutTheses = (file: string) =>
  usageError(
    `no theses in ${file}`,
    'pass an output of "trdr thesis tail" or "trdr thesis list" as ndjson or json',
  );

/** A post of a file: who wrote it when, and where its line is. */
export interface FilePost {
  /** The time by which the post is placed: its own may be missing. */
  place: number;
  /** The id and the handle of the author, in lower case; empty if the post does not say. */
  readonly authorId: string;
  readonly authorHandle: string;
  /** The address of the token, as the service writes it; empty without one. */
  readonly tokenAddress: string;
  readonly writtenAt: number;
  readonly line: number;
  readonly bytes: number;
}

interface ReadPost {
  readonly id: string;
  readonly post: FilePost;
}

/** The garbage of more posts would take more memory than the posts do. */
const MANY = 50_000;

/** The posts of a page: so few that their memory is soon free again. */
const PAGE = 200;

/**
 * The theses of files as one list: each once, as it was written last, newest first. Their lines are
 * not kept in memory, because files may have more of them than it has room for.
 */
export class FilePosts {
  /** Newest first. */
  all: readonly FilePost[] = [];
  readonly #lines = new ScratchFile();
  readonly #names = new DistinctTexts();
  #read = 0;
  #ahead = 0;

  static async read(files: readonly string[], terminal: Terminal): Promise<FilePosts> {
    const posts = new FilePosts();
    const now = terminal.io.clock.now();
    // The ids take more memory than all else, and are in the lines.
    const byId = new Map<string, FilePost>();
    const found = thesesIn(files, terminal, (line) => posts.#postOn(line, now));
    for await (const ofFile of found) posts.#add(ofFile, byId);
    if (posts.#ahead > 0) terminal.notice(aheadText(posts.#ahead));
    posts.all = [...byId.values()].sort((one, other) =>
      one.place === other.place ? 0 : other.place - one.place,
    );
    return posts;
  }

  /** What is kept of a post; undefined if the line is not one. */
  #postOn(line: Buffer, now: number): ReadPost | undefined {
    const record = leanJson(line);
    if (record === undefined || !isThesis(record)) return undefined;
    const row = pageRow(record, timeFields.thesis);
    const { id, at } = usable(row, now);
    if (id === null) return undefined;
    if (at !== row.at) this.#ahead++;
    // V8 then collects more often, for a fifth more time.
    if (++this.#read === MANY) setFlagsFromString('--optimize-for-size');
    const post = {
      place: at ?? Number.NaN,
      authorId: this.#nameOf(record['authorId'], normalName),
      authorHandle: this.#nameOf(record['authorHandle'], normalName),
      tokenAddress: this.#nameOf(record['tokenAddress'], normalToken),
      writtenAt: writtenAt(record),
      line: this.#lines.add(line),
      bytes: line.length,
    };
    return { id, post };
  }

  #nameOf(value: unknown, normal: (text: string) => string): string {
    return this.#names.of(normal(textOf(value) ?? ''));
  }

  /** Adds the posts of a file. One without a time belongs to its neighbors. */
  #add(posts: readonly ReadPost[], byId: Map<string, FilePost>): void {
    let last = Number.POSITIVE_INFINITY;
    // Tails write the oldest post first.
    for (const { id, post } of isRising(posts) ? posts.toReversed() : posts) {
      if (!Number.isNaN(post.place)) last = post.place;
      else post.place = last;
      const before = byId.get(id);
      if (before === undefined || this.#isLater(post, before)) byId.set(id, post);
    }
  }

  /** The choice between versions with the same time does not depend on their order. */
  #isLater(one: FilePost, other: FilePost): boolean {
    if (one.writtenAt !== other.writtenAt) return one.writtenAt > other.writtenAt;
    return Buffer.compare(this.#lineOf(one), this.#lineOf(other)) > 0;
  }

  #lineOf({ line, bytes }: FilePost): Buffer {
    return this.#lines.read(line, bytes);
  }

  /** A handle with which a post lacks the id of its author; undefined if none does. */
  unnamed(handle: string): string | undefined {
    const isUnnamed = ({ authorId, authorHandle }: FilePost) =>
      authorId === '' && authorHandle === handle;
    return this.all.some(isUnnamed) ? handle : undefined;
  }

  /** All posts as pages, with the digits of their numbers. */
  source(): PageSource {
    return new FilePages(this.all, (post) => {
      const record = parseJson(this.#lineOf(post).toString('utf8'));
      return pageRow(isRecord(record) ? record : {}, timeFields.thesis);
    });
  }

  /** Some of the posts as pages, as `record` has them. */
  sourceOf(posts: readonly FilePost[]): PageSource {
    return new FilePages(posts, (post) => pageRow(this.record(post), timeFields.thesis));
  }

  /** All posts, as `record` has them. */
  *records(): Generator<Sent, void, void> {
    for (const post of this.all) yield this.record(post);
  }

  /** A post without the last digits of its numbers, which takes a third of the time. */
  record(post: FilePost): Sent {
    return leanJson(this.#lineOf(post)) ?? {};
  }
}

class FilePages implements PageSource {
  readonly sizes = { step: PAGE, max: PAGE };
  readonly stepCu = 0;
  readonly #posts: readonly FilePost[];
  readonly #rowOf: (post: FilePost) => PageRow;
  /** Where the pages end that were read, by the ids of their last posts. */
  readonly #ends = new Map<string | null, number>();

  constructor(posts: readonly FilePost[], rowOf: (post: FilePost) => PageRow) {
    this.#posts = posts;
    this.#rowOf = rowOf;
  }

  async page({ before }: AskedPage): Promise<FeedPage> {
    const from = before === undefined ? 0 : (this.#ends.get(before) ?? this.#placeBelow(before));
    const to = from + PAGE;
    const rows = this.#posts.slice(from, to).map(this.#rowOf);
    const nextBefore = rows.at(-1)?.id ?? null;
    this.#ends.set(nextBefore, to);
    return { rows, hasMore: to < this.#posts.length, nextBefore };
  }

  #placeBelow(id: string): number {
    const at = this.#posts.findIndex((post) => this.#rowOf(post).id === id);
    if (at >= 0) return at + 1;
    throw usageError(`no thesis ${id} in the files`, 'pass the id of one that they have');
  }
}

function isRising(posts: readonly ReadPost[]): boolean {
  const times = posts.map(({ post }) => post.place).filter((at) => !Number.isNaN(at));
  const rises = times.reduce((sum, at, index) => sum + Math.sign(at - (times[index - 1] ?? at)), 0);
  return rises > 0;
}

/** Parses in a third of the time, and keeps the digits of an id alone. */
function leanJson(line: Buffer): Sent | undefined {
  const text = line.toString('utf8');
  const value = plainJson(text);
  if (isTooDeep(text, value)) return undefined;
  const isNumbered = isRecord(value) && typeof value['id'] === 'number';
  const record = isNumbered ? parseJson(text) : value;
  return isRecord(record) ? record : undefined;
}
