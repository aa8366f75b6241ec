import type { AnswerCache } from '../../contract/ports/answers.ts';
import type { Book, PersonReading } from '../../contract/ports/book.ts';
import { known, recognize, type Sent } from '../../contract/read-record.ts';
import { Pnl } from '../../contract/records/pnl.ts';

/** A cache of numbers that also notes in the book which handle has which wallets. */
export const feedingBook = (cache: AnswerCache, book: Book): AnswerCache => ({
  ...cache,
  get: (endpoint, subjects) => cache.get(endpoint, subjects),
  async put(endpoint, answers) {
    await cache.put(endpoint, answers);
    if (endpoint !== 'user.pnl') return;
    const readings = [...answers.values()].flatMap(({ record, time }) => {
      const numbers = recognize('numbers', record)?.record;
      return numbers ? [readingOfNumbers(numbers, time)] : [];
    });
    await book.keep(readings);
  },
});

function readingOfNumbers(numbers: Sent, time: number): PersonReading {
  const { handle, wallet, evmWallet } = known(Pnl, numbers);
  return { time, identity: { handle, solanaAddress: wallet, evmAddress: evmWallet } };
}
