import type { Sent } from '../../contract/read-record.ts';
import type { WalkFilter, WalkOptions } from '../../core/pages/walk.ts';
import type { Context } from '../context.ts';
import { continueList, hintToContinue } from './continue-command.ts';

/** How far a list has come, and the command that continues it there. */
export interface ListPosition {
  readonly filter: Pick<WalkFilter<Sent>, 'matches' | 'onPage'>;
  readonly command: () => string;
  /** Passes rows on. If a page fails after others were read, the failure names the command. */
  follow<T>(rows: AsyncIterable<T>): AsyncGenerator<T, void, void>;
}

/** Follows a list whose rows are selected by `matches`. */
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
      // An age such as 2h would start later when the list continues.
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
    command,
    async *follow(rows) {
      try {
        yield* rows;
      } catch (error) {
        throw next === before ? error : hintToContinue(error, command);
      }
    },
  };
}
