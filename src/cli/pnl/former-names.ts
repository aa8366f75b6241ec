import { textOf } from '../../base/json-object.ts';
import { normalHandle } from '../../contract/handles.ts';
import type { Former, Person } from '../../contract/ports/book.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import { openBook } from '../run/answers.ts';
import type { Context } from '../run/context.ts';

/**
 * Returns the handles and wallets that a trader had before, by what the book has of the user with
 * the present handle.
 */
export async function formerNamesBy(
  context: Context,
): Promise<(record: PnlRecord) => readonly string[]> {
  const book = await openBook(context);
  return (record) => {
    const handle = record.found === true ? textOf(record['handle']) : undefined;
    if (book === undefined || !handle) return [];
    const [known] = book.look([{ type: 'handle', normal: normalHandle(handle) }]);
    const people = known?.people.map(({ person }) => person) ?? [];
    return people.filter(hasId).flatMap(({ was }) => was.flatMap(namesIn));
  };
}

/** Only an id says that the user of two handles is the same. */
const hasId = ({ id }: Person): boolean => id !== undefined;

const namesIn = ({ handle, solanaAddress, evmAddress }: Former): string[] =>
  [handle, solanaAddress, evmAddress].flatMap((name) => (name ? [normalHandle(name)] : []));
