import type { AnswerCache, CachedAnswer, CachedEndpoint } from '../../contract/ports/answers.ts';
import type { Book, Miss, Name, PersonReading } from '../../contract/ports/book.ts';
import { known } from '../../contract/read-record.ts';
import { recognize } from '../../contract/record-types.ts';
import { Pnl } from '../../contract/records/pnl.ts';
import { readingOfAnswer } from './user-calls.ts';

/** A cache whose answers also feed the book, which alone keeps users. */
export const feedingBook = (cache: AnswerCache, book: Book): AnswerCache => ({
  ...cache,
  get: (endpoint, subjects) => cache.get(endpoint, subjects),
  async put(endpoint, answers) {
    const readingOf = readings[endpoint];
    if (readingOf === undefined || endpoint === 'user.pnl') await cache.put(endpoint, answers);
    if (readingOf)
      await book.keep(
        [...answers].flatMap(([subject, answer]) => readingOf(answer, subject) ?? []),
      );
  },
});

type ReadingOf = (answer: CachedAnswer, subject: string) => PersonReading | Miss | undefined;

const ofUser =
  (type: Name['type']): ReadingOf =>
  (answer, normal) =>
    readingOfAnswer({ type, normal }, answer);

/** What the answers of these endpoints say about people. */
const readings: Readonly<Partial<Record<CachedEndpoint, ReadingOf>>> = {
  'user.handle': ofUser('handle'),
  'user.id': ofUser('id'),
  'user.wallet': ofUser('wallet'),
  'user.pnl'({ record, time }) {
    const numbers = recognize('numbers', record)?.record;
    if (numbers === undefined) return undefined;
    const { handle, wallet, evmWallet } = known(Pnl, numbers);
    return { time, identity: { handle, solanaAddress: wallet, evmAddress: evmWallet } };
  },
};
