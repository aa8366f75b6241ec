import { setFlagsFromString } from 'node:v8';
import { addTo } from '../../base/add-to.ts';
import { usageError } from '../../base/failure.ts';
import { isTooDeep, parseJson } from '../../base/json.ts';
import { isRecord, plainJson } from '../../base/json-object.ts';
import { countText } from '../../base/units.ts';
import type { Sent } from '../../contract/read-record.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { timeFields } from '../../core/pages/feeds.ts';
import { normalName } from '../../core/pages/filter.ts';
import { aheadText, type PageRow, pageRow, withoutFutureTime } from '../../core/pages/post.ts';
import type { PositionPost } from '../../core/positions/positions.ts';
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

/** What every post of files is asked for. */
export type PostFacts = Pick<
  PositionPost,
  'id' | 'at' | 'writtenAt' | 'close' | 'authorId' | 'authorHandle' | 'token' | 'network' | 'symbol'
>;

/** What is kept of the posts of files. */
export interface KeptPosts<P extends PostFacts> {
  /** The bytes of the line are valid until it returns. */
  keep(row: PageRow, line: Buffer): P;
  /** Positive if the first of two versions replaces the other, in whichever order they are read. */
  compare(one: P, other: P): number;
}

/** The garbage of more posts would take more memory than the posts do. */
const MANY = 30_000;

/** The theses of files as one list: each once, as it was written last, newest first. */
export class FilePosts<P extends PostFacts> {
  readonly all: readonly P[];
  readonly placeOf: (post: P) => number;
  #index: AuthorIndex<P> | undefined;

  private constructor(reading: FileReading<P>) {
    this.all = reading.newestFirst();
    this.placeOf = reading.placeOf;
  }

  static async read<P extends PostFacts>(
    files: readonly string[],
    terminal: Terminal,
    kept: KeptPosts<P>,
  ): Promise<FilePosts<P>> {
    const reading = new FileReading(terminal.io.clock.now(), kept);
    for await (const posts of thesesIn(files, terminal, (line) => reading.postOn(line)))
      reading.add(posts);
    if (reading.ahead > 0) terminal.notice(aheadText(reading.ahead));
    return new FilePosts(reading);
  }

  /** Made on demand, because it is as large as the posts are many. */
  get #authors(): AuthorIndex<P> {
    this.#index ??= indexOf(this.all);
    return this.#index;
  }

  /** The ids of all authors, each once, in lower case. */
  get authors(): Iterable<string> {
    return this.#authors.posts.keys();
  }

  /** The posts of an author, newest first. */
  by(id: string): readonly P[] {
    return this.#authors.posts.get(normalName(id)) ?? [];
  }

  /** The id of an author as the newest post has it; undefined without posts. */
  idOf({ type, normal, text }: Subject): string | undefined {
    if (type === 'wallet')
      throw usageError(`${text}: posts name no wallets`, 'pass the handle or the user id');
    const id = type === 'id' ? normal : (this.#authors.byHandle.get(normal) ?? '');
    return this.by(id)[0]?.authorId ?? undefined;
  }

  /** A handle with which a post lacks the id of its author; undefined if none does. */
  unnamed(handle: string): string | undefined {
    const isUnnamed = ({ authorId, authorHandle }: P) =>
      authorId === null && normalName(authorHandle ?? '') === handle;
    return this.all.some(isUnnamed) ? handle : undefined;
  }
}

/** The state of reading files. */
class FileReading<P extends PostFacts> {
  /** How many posts are dated more than a day ahead. */
  ahead = 0;
  readonly #now: number;
  readonly #kept: KeptPosts<P>;
  readonly #byId = new Map<P['id'], P>();
  /** The places of the posts without a time. */
  readonly #places = new Map<P, number>();
  #read = 0;

  constructor(now: number, kept: KeptPosts<P>) {
    this.#now = now;
    this.#kept = kept;
  }

  /** What is kept of a post; undefined if the line is not one. */
  postOn(line: Buffer): P | undefined {
    const record = leanJson(line);
    if (record === undefined || !isThesis(record)) return undefined;
    const sent = pageRow(record, timeFields.thesis);
    const row = withoutFutureTime(sent, this.#now);
    if (row.id === null) return undefined;
    if (row !== sent) this.ahead++;
    // V8 then collects more often, for a fifth more time.
    if (++this.#read === MANY) setFlagsFromString('--optimize-for-size');
    return this.#kept.keep(row, line);
  }

  /** Adds the posts of a file. One without a time belongs to its neighbors. */
  add(posts: readonly P[]): void {
    let last = Number.POSITIVE_INFINITY;
    // Tails write the oldest post first.
    for (const post of isRising(posts) ? posts.toReversed() : posts) {
      if (post.at === null) this.#places.set(post, last);
      else last = post.at;
      const before = this.#byId.get(post.id);
      if (before === undefined || this.#kept.compare(post, before) > 0)
        this.#byId.set(post.id, post);
    }
  }

  /** The time by which a post is placed: its own may be missing. */
  readonly placeOf = (post: P): number => post.at ?? this.#places.get(post) ?? Number.NaN;

  newestFirst(): readonly P[] {
    // A sort takes the difference of two infinite places, which is not a number, as 0.
    return [...this.#byId.values()].sort((one, other) => this.placeOf(other) - this.placeOf(one));
  }
}

interface AuthorIndex<P> {
  /** The posts of each author, newest first, by the id in lower case. */
  readonly posts: ReadonlyMap<string, readonly P[]>;
  /** The id of the author who had a handle last. */
  readonly byHandle: ReadonlyMap<string, string>;
}

function indexOf<P extends PostFacts>(posts: readonly P[]): AuthorIndex<P> {
  const byAuthor = new Map<string, P[]>();
  const byHandle = new Map<string, string>();
  for (const post of posts) {
    const { authorId, authorHandle } = post;
    if (authorId === null) continue;
    const id = normalName(authorId);
    addTo(byAuthor, id, post);
    const handle = normalName(authorHandle ?? '');
    if (!byHandle.has(handle)) byHandle.set(handle, id);
  }
  return { posts: byAuthor, byHandle };
}

function isRising(posts: readonly PostFacts[]): boolean {
  let rises = 0;
  let last = Number.NaN;
  for (const { at } of posts) {
    if (at === null) continue;
    rises += Math.sign(at - last) || 0;
    last = at;
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
