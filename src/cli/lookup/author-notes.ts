import { setImmediate as nextTurn } from 'node:timers/promises';
import { textOf } from '../../base/json-object.ts';
import type { Book, PersonReading } from '../../contract/ports/book.ts';
import type { Sent } from '../../contract/read-record.ts';
import type { PageRow } from '../../core/pages/post.ts';
import type { PositionPost } from '../../core/positions/positions.ts';
import { openBook } from '../run/answers.ts';
import type { Context } from '../run/context.ts';

/** Who was noted within this time is not noted again, unless the handle is another one. */
const AGAIN_MS = 3_600_000;
/** The authors who are remembered as noted: an hour has fewer. */
const NOTED = 20_000;
/** The authors who are written at once: few enough that no row waits for them. */
const SLICE = 100;

/**
 * Posts name their authors by id and handle. The book notes them, so that their next lookup by id
 * says what has changed.
 */
export class AuthorNotes {
  readonly #book: Book | undefined;
  readonly #now: () => number;
  #seen = new Map<string, PersonReading>();
  /** The handles that were noted last, by the ids of their authors. */
  readonly #noted = new Map<string, string>();
  #forgetAt = 0;

  constructor(book: Book | undefined, now: () => number) {
    this.#book = book;
    this.#now = now;
  }

  static async open(context: Context): Promise<AuthorNotes> {
    return new AuthorNotes(await openBook(context), context.terminal.io.clock.now);
  }

  /**
   * Called for every post, so it does no more than remember. Of several posts, the newest counts:
   * an old one may have an old handle. So one without a time says nothing.
   */
  saw(post: Sent, at: number | null): void {
    const id = textOf(post['authorId']);
    const handle = textOf(post['authorHandle']);
    if (!id || !handle || at === null || this.#noted.get(id) === handle) return;
    const time = Math.min(at, this.#now());
    if (time <= (this.#seen.get(id)?.time ?? 0)) return;
    this.#seen.set(id, { time, id, identity: { handle }, mayBeOld: true });
  }

  /**
   * Writes who was seen since the last time. What cannot be written is lost without a failure: it
   * was not asked for.
   */
  async save(): Promise<void> {
    if (this.#seen.size === 0) return;
    const readings = [...this.#seen.values()];
    this.#seen = new Map();
    this.#forget();
    for (const { id, identity } of readings)
      if (id !== undefined && identity.handle) this.#noted.set(id, identity.handle);
    for (let at = 0; at < readings.length; at += SLICE) {
      await this.#keep(readings.slice(at, at + SLICE));
      await nextTurn();
    }
  }

  async #keep(readings: readonly PersonReading[]): Promise<void> {
    try {
      await this.#book?.keep(readings);
    } catch {
      // A damaged book must not end a tail. A lookup, which needs the book, reports it.
    }
  }

  #forget(): void {
    const now = this.#now();
    if (now < this.#forgetAt && this.#noted.size < NOTED) return;
    this.#noted.clear();
    this.#forgetAt = now + AGAIN_MS;
  }
}

/** The posts of a list, whose authors are noted at its end. */
export async function* notingAuthors(
  posts: AsyncIterable<PageRow>,
  context: Context,
): AsyncGenerator<PageRow, void, void> {
  const authors = await AuthorNotes.open(context);
  try {
    for await (const post of posts) {
      authors.saw(post.record, post.at);
      yield post;
    }
  } finally {
    await authors.save();
  }
}

/** Saves the authors of posts that were read as a whole. */
export async function noteAuthors(
  context: Context,
  posts: readonly Pick<PositionPost, 'authorId' | 'authorHandle' | 'at'>[],
): Promise<void> {
  const authors = await AuthorNotes.open(context);
  for (const { at, ...post } of posts) authors.saw(post, at);
  await authors.save();
}
