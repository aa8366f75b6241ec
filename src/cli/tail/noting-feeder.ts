import type { Clock } from '../../base/clock.ts';
import { every } from '../../tail/every.ts';
import { authorFieldsOf, type TailRow } from '../../tail/post-row.ts';
import type { AuthorNotes } from '../lookup/author-notes.ts';
import type { Feeder } from './run-feed.ts';

/** Authors are written as rarely as the position of a file. */
const SAVE_MS = 10_000;

/** A filter that remembers the authors of all posts, without parsing their records. */
export const notingFilter =
  (filter: (row: TailRow) => boolean, authors: Pick<AuthorNotes, 'saw'>) =>
  (row: TailRow): boolean => {
    authors.saw(authorFieldsOf(row), row.at);
    return filter(row);
  };

/** The feeder of a tail, while which the authors of its posts are written from time to time. */
export function notingFeeder(feeder: Feeder, authors: AuthorNotes, clock: Clock): Feeder {
  const stopSaving = every(
    clock,
    () => SAVE_MS,
    () => authors.save(),
  );
  return {
    watched: feeder.watched,
    check: feeder.check,
    run: () => feeder.run(),
    async close() {
      await feeder.close();
      await stopSaving();
      await authors.save();
    },
  };
}
