import { usageError } from '../../base/failure.ts';
import type { EndpointId } from '../../contract/endpoints.ts';
import { readSubject, type Subject } from '../../core/lookup/subject.ts';
import { subjectSource } from '../../input/subject-list.ts';
import { type GivenFlags, list, value } from '../args/option.ts';
import { distinctSubjects } from '../args/subjects.ts';
import { file, text } from '../args/values.ts';
import type { Context } from '../run/context.ts';

/** The calls of a command that reads theses, and looks up their authors for that. */
export const thesisCalls: readonly EndpointId[] = [
  'thesis.all',
  'thesis.token',
  'thesis.user',
  'thesis.userToken',
  'user.handle',
  'user.id',
  'launchpad.user',
];

/** The flags that name authors. */
export const authorOptions = {
  user: list('--user', 'only posts by this author (handle, wallet or id)', text('user', 'handle')),
  users: value('--users', 'only posts by the authors in FILE (- for stdin)', file),
  column: value('--column', 'the column or field of --users with the authors', text('name')),
};

/**
 * Reads the authors that the flags name, each once. With the key, a pasted one is recognised; a run
 * that sends nothing may have none.
 */
export async function readAuthors(
  { user, users, column }: GivenFlags<typeof authorOptions>,
  { terminal, settings }: Context,
  needsKey = true,
): Promise<readonly Subject[]> {
  if (user.length === 0 && users === undefined && column === undefined) return [];
  // A list in one flag is refused here, in the words for a flag.
  for (const author of user) if (/[,;]/.test(author)) await readSubject(author);
  const source = subjectSource(user, { file: users, column }, 'author');
  const key = needsKey ? await settings.key.get() : undefined;
  const subjects = await distinctSubjects(source, terminal, key, undefined);
  if (subjects.length > 0) return subjects;
  throw usageError(`--users: ${users} has no subjects`, 'write one handle, wallet or id per line');
}
