import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AnswerCache } from '../../contract/ports/answers.ts';
import type { Book, PersonReading } from '../../contract/ports/book.ts';
import { known, recognize, type Sent } from '../../contract/read-record.ts';
import { Pnl } from '../../contract/records/pnl.ts';

/** A cache of numbers that also notes in the book which handle has which wallets. */
export function feedingBook(cache: AnswerCache, book: Book): AnswerCache {
  const readings = new GatheredReadings(book);
  return {
    ...cache,
    get: (endpoint, subject) => cache.get(endpoint, subject),
    async put(endpoint, subject, answer) {
      await cache.put(endpoint, subject, answer);
      const numbers =
        endpoint === 'user.pnl' ? recognize('numbers', answer.record)?.record : undefined;
      if (numbers) await readings.keep(readingOfNumbers(numbers, answer.time));
    },
  };
}

/** The answers of a batch are put one by one, but the book is locked once for all of them. */
class GatheredReadings {
  readonly #book: Book;
  #gathered: PersonReading[] = [];
  #saved: Promise<void> | undefined;

  constructor(book: Book) {
    this.#book = book;
  }

  keep(reading: PersonReading): Promise<void> {
    this.#gathered.push(reading);
    this.#saved ??= this.#save();
    return this.#saved;
  }

  async #save(): Promise<void> {
    await nextTurn();
    const readings = this.#gathered;
    this.#gathered = [];
    this.#saved = undefined;
    await this.#book.keep(readings);
  }
}

function readingOfNumbers(numbers: Sent, time: number): PersonReading {
  const { handle, wallet, evmWallet } = known(Pnl, numbers);
  return { time, identity: { handle, solanaAddress: wallet, evmAddress: evmWallet } };
}
