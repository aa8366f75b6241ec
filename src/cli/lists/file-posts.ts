import { setFlagsFromString } from 'node:v8';
import { addTo } from '../../base/add-to.ts';
import { DistinctTexts } from '../../base/distinct-texts.ts';
import { usageError } from '../../base/failure.ts';
import { isTooDeep, parseJson } from '../../base/json.ts';
import { isRecord, plainJson } from '../../base/json-object.ts';
import { countText } from '../../base/units.ts';
import type { Sent } from '../../contract/read-record.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { timeFields } from '../../core/pages/feeds.ts';
import { normalName } from '../../core/pages/filter.ts';
import { aheadText, pageRow, withoutFutureTime } from '../../core/pages/post.ts';
import {
  compareVersions,
  type PositionPost,
  positionPost,
} from '../../core/positions/positions.ts';
import { recordedLines } from '../../verify/recorded-posts.ts';
import type { Terminal } from '../run/terminal.ts';
import type { PostLines } from './line-posts.ts';

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

/** A post of a file. */
export interface FilePost {
  /** The time by which the post is placed: its own may be missing. */
  place: number;
  readonly post: PositionPost;
  /** Which one of the lines it is, if they are kept. */
  readonly line: number;
}

interface ReadPost {
  readonly id: string;
  readonly placed: FilePost;
}

/** The garbage of more posts would take more memory than the posts do. */
const MANY = 30_000;

/** The theses of files as one list: each once, as it was written last, newest first. */
export class FilePosts {
  readonly all: readonly FilePost[];
  #index: AuthorIndex | undefined;

  private constructor(all: readonly FilePost[]) {
    this.all = all;
  }

  /** Their lines are kept in `lines`. */
  static async read(
    files: readonly string[],
    terminal: Terminal,
    lines?: PostLines,
  ): Promise<FilePosts> {
    const reading = new FileReading(terminal.io.clock.now(), lines);
    for await (const posts of thesesIn(files, terminal, (line) => reading.postOn(line)))
      reading.add(posts);
    if (reading.ahead > 0) terminal.notice(aheadText(reading.ahead));
    return new FilePosts(reading.newestFirst());
  }

  /** Made on demand, because it is as large as the posts are many. */
  get #authors(): AuthorIndex {
    this.#index ??= indexOf(this.all);
    return this.#index;
  }

  /** The ids of all authors, each once, in lower case. */
  get authors(): Iterable<string> {
    return this.#authors.posts.keys();
  }

  /** The posts of an author, newest first. */
  by(id: string): readonly FilePost[] {
    return this.#authors.posts.get(normalName(id)) ?? [];
  }

  /** The id of an author as the newest post has it; undefined without posts. */
  idOf({ type, normal, text }: Subject): string | undefined {
    if (type === 'wallet')
      throw usageError(`${text}: posts name no wallets`, 'pass the handle or the user id');
    const id = type === 'id' ? normal : (this.#authors.byHandle.get(normal) ?? '');
    return this.by(id)[0]?.post.authorId ?? undefined;
  }

  /** A handle with which a post lacks the id of its author; undefined if none does. */
  unnamed(handle: string): string | undefined {
    const isUnnamed = ({ post: { authorId, authorHandle } }: FilePost) =>
      authorId === null && normalName(authorHandle ?? '') === handle;
    return this.all.some(isUnnamed) ? handle : undefined;
  }

  /** What the posts say of themselves. */
  *facts(): Generator<PositionPost, void, void> {
    for (const { post } of this.all) yield post;
  }
}

/** The state of reading files. */
class FileReading {
  /** How many posts are dated more than a day ahead. */
  ahead = 0;
  readonly #now: number;
  readonly #lines: PostLines | undefined;
  readonly #texts = new DistinctTexts();
  readonly #byId = new Map<string, FilePost>();
  #read = 0;

  constructor(now: number, lines: PostLines | undefined) {
    this.#now = now;
    this.#lines = lines;
  }

  /** What is kept of a post; undefined if the line is not one. */
  postOn(line: Buffer): ReadPost | undefined {
    const record = leanJson(line);
    if (record === undefined || !isThesis(record)) return undefined;
    const sent = pageRow(record, timeFields.thesis);
    const row = withoutFutureTime(sent, this.#now);
    if (row.id === null) return undefined;
    if (row !== sent) this.ahead++;
    // V8 then collects more often, for a fifth more time.
    if (++this.#read === MANY) setFlagsFromString('--optimize-for-size');
    const post = positionPost(row, this.#texts);
    const placed = { place: row.at ?? Number.NaN, post, line: this.#lines?.add(line) ?? 0 };
    return { id: row.id, placed };
  }

  /** Adds the posts of a file. One without a time belongs to its neighbors. */
  add(posts: readonly ReadPost[]): void {
    let last = Number.POSITIVE_INFINITY;
    // Tails write the oldest post first.
    for (const { id, placed } of isRising(posts) ? posts.toReversed() : posts) {
      if (!Number.isNaN(placed.place)) last = placed.place;
      else placed.place = last;
      const before = this.#byId.get(id);
      if (before === undefined || this.#isLater(placed, before)) this.#byId.set(id, placed);
    }
  }

  /** Whether it replaces another version, in whichever order they are read. */
  #isLater(one: FilePost, other: FilePost): boolean {
    const order = compareVersions(one.post, other.post);
    return (order || (this.#lines?.compare(one.line, other.line) ?? 0)) > 0;
  }

  newestFirst(): readonly FilePost[] {
    return [...this.#byId.values()].sort((one, other) =>
      one.place === other.place ? 0 : other.place - one.place,
    );
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
  for (const placed of posts) {
    const { authorId, authorHandle } = placed.post;
    if (authorId === null) continue;
    const id = normalName(authorId);
    addTo(byAuthor, id, placed);
    const handle = normalName(authorHandle ?? '');
    if (!byHandle.has(handle)) byHandle.set(handle, id);
  }
  return { posts: byAuthor, byHandle };
}

function isRising(posts: readonly ReadPost[]): boolean {
  let rises = 0;
  let last = Number.NaN;
  for (const { placed } of posts) {
    if (Number.isNaN(placed.place)) continue;
    rises += Math.sign(placed.place - last) || 0;
    last = placed.place;
  }
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
