import { textOf } from '../../base/json-object.ts';
import type { AnswerCache } from '../../contract/ports/answers.ts';
import type { Book, PersonReading } from '../../contract/ports/book.ts';
import { known, recognize, type Sent } from '../../contract/read-record.ts';
import { Pnl } from '../../contract/records/pnl.ts';
import { openBook } from '../run/answers.ts';
import type { Context } from '../run/context.ts';

/** A cache of numbers that also notes in the book which handle has which wallets. */
export const feedingBook = (cache: AnswerCache, book: Book): AnswerCache => ({
  ...cache,
  get: (endpoint, subject) => cache.get(endpoint, subject),
  async put(endpoint, subject, answer) {
    await cache.put(endpoint, subject, answer);
    const numbers =
      endpoint === 'user.pnl' ? recognize('numbers', answer.record)?.record : undefined;
    if (numbers) await book.keep([readingOfNumbers(numbers, answer.time)]);
  },
});

function readingOfNumbers(numbers: Sent, time: number): PersonReading {
  const { handle, wallet, evmWallet } = known(Pnl, numbers);
  return { time, identity: { handle, solanaAddress: wallet, evmAddress: evmWallet } };
}

/** Notes the authors of the posts that a list read: their ids and handles, at the end of each page of posts. */
export async function* notingAuthors(
  posts: AsyncIterable<Sent>,
  context: Context,
): AsyncGenerator<Sent, void, void> {
  const authors = new Map<string, PersonReading>();
  try {
    for await (const post of posts) {
      const id = textOf(post['authorId']);
      const handle = textOf(post['authorHandle']);
      const time = context.terminal.io.clock.now();
      // The newest post comes first, so its handle is the present one.
      if (id && handle && !authors.has(id)) authors.set(id, { time, id, identity: { handle } });
      yield post;
    }
  } finally {
    if (authors.size > 0) await (await openBook(context))?.keep([...authors.values()]);
  }
}
