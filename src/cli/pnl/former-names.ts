import { textOf } from '../../base/json-object.ts';
import { countText } from '../../base/units.ts';
import { normalHandle } from '../../contract/handles.ts';
import type { Former, Person } from '../../contract/ports/book.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import { bearerId } from '../../core/lookup/renames.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { namesText } from '../../output/notices.ts';
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
    const [entry] = book.look([{ type: 'handle', normal: normalHandle(handle) }]);
    const people = entry?.people.map(({ person }) => person) ?? [];
    return people.filter(hasId).flatMap(({ was }) => was.flatMap(namesIn));
  };
}

/** Only an id says that the user of two handles is the same. */
const hasId = ({ id }: Person): boolean => id !== undefined;

const namesIn = ({ handle, solanaAddress, evmAddress }: Former): string[] =>
  [handle, solanaAddress, evmAddress].flatMap((name) => (name ? [normalHandle(name)] : []));

/**
 * Says who of the handles without numbers was read before: they may have another handle now, which
 * only a lookup by id shows.
 */
export async function noticeKnownUsers(
  context: Context,
  missing: readonly number[],
  subjects: readonly Subject[],
): Promise<void> {
  const handles = missing
    .flatMap((row) => subjects[row] ?? [])
    .filter(({ type }) => type === 'handle');
  const book = handles.length === 0 ? undefined : await openBook(context);
  const entries = book?.look(handles) ?? [];
  const readBefore = handles.flatMap(({ text, value }, at) => {
    const id = bearerId(value, entries[at]);
    return id === undefined ? [] : [{ text, id }];
  });
  if (readBefore.length === 0) return;
  const who = `${countText(readBefore.length, 'handle')} not found now, but known from before`;
  const names = namesText(readBefore.map(({ text }) => text));
  const ids = namesText(readBefore.map(({ id }) => id));
  context.terminal.notice(
    `${who} (${names}): look up the present handle with "trdr whois ${ids}", for 100 CU each`,
  );
}
