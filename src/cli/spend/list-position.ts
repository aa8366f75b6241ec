import type { Sent } from '../../contract/read-record.ts';
import type { WalkFilter, WalkOptions } from '../../core/pages/walk.ts';
import type { Context } from '../context.ts';
import { continueList, hintToContinue } from './continue-command.ts';

/** The position of a list, from which another run can continue. */
export interface ListPosition {
  readonly filter: Pick<WalkFilter<Sent>, 'matches' | 'onPage'>;
  /**
   * Yields the rows unchanged. If a page fails after other pages were read, adds the command that continues the list
   * to the failure.
   */
  follow<T>(rows: AsyncIterable<T>): AsyncGenerator<T, void, void>;
}

/** Tracks the position of a list whose rows are selected by `matches`. */
export function createListPosition(
  context: Pick<Context, 'io' | 'globals'>,
  { limit, since, before }: Pick<WalkOptions, 'limit' | 'since' | 'before'>,
  matches: (record: Sent) => boolean,
): ListPosition {
  let next = before;
  let found = 0;
  const command = () =>
    continueList(context, {
      '--before': next,
      // Write absolute times, because an age such as 2h would refer to a later time when the list continues.
      ...(since !== undefined && { '--since': new Date(since).toISOString() }),
      ...(limit !== undefined && { '--limit': String(limit - found) }),
    });
  return {
    filter: {
      matches(record) {
        if (!matches(record)) return false;
        found++;
        return true;
      },
      onPage(cursor) {
        next = cursor;
      },
    },
    async *follow(rows) {
      try {
        yield* rows;
      } catch (error) {
        throw next === before ? error : hintToContinue(error, command);
      }
    },
  };
}
