import { normalHandle } from '../../contract/handles.ts';
import type { KnownName, Person, RenamedUser, ReusedHandle } from '../../contract/ports/book.ts';
import { isUserId, type Subject } from './subject.ts';

/** Subjects as they are looked up, and what the book says about the handles among them. */
export interface FollowedSubjects {
  readonly subjects: readonly Subject[];
  readonly renamed: readonly RenamedUser[];
  readonly reused: readonly ReusedHandle[];
}

/**
 * Puts the id of their user in place of handles that the book knows as old, because ids never
 * change. `entries` are what the book has of the subjects.
 */
export function followRenames(
  subjects: readonly Subject[],
  entries: readonly (KnownName | undefined)[],
): FollowedSubjects {
  const renamed: RenamedUser[] = [];
  const reused: ReusedHandle[] = [];
  const followed = subjects.map((subject, at): Subject => {
    const entry = subject.type === 'handle' ? entries[at] : undefined;
    if (entry === undefined) return subject;
    const user = renamedUser(subject.value, entry);
    if (user === undefined) {
      const reuse = reuseOf(subject.value, entry);
      if (reuse) reused.push(reuse);
      return subject;
    }
    renamed.push(user);
    return { text: subject.text, type: 'id', value: user.id, normal: user.id };
  });
  return { subjects: followed, renamed, reused };
}

/** The user who had a handle last, if the book has another handle of theirs by now. */
export function renamedUser(handle: string, entry: KnownName | undefined): RenamedUser | undefined {
  const bearer = bearerOf(handle, entry);
  if (bearer?.now === undefined) return undefined;
  return { handle, id: bearer.id, now: bearer.now, since: bearer.since };
}

/** The id of the user whom the book has seen last with a handle, whatever they are called now. */
export const bearerId = (handle: string, entry: KnownName | undefined): string | undefined =>
  bearerOf(handle, entry)?.id;

/** The handle that a user had when the book saw them last. */
export function presentHandle(entry: KnownName | undefined): string | undefined {
  const person = lastUser(entry);
  return person?.later?.handle ?? person?.identity.handle ?? undefined;
}

/** Who was seen last under a name, and is known by an id. */
const lastUser = (entry: KnownName | undefined): Person | undefined =>
  entry?.people.find(({ person }) => person.id !== undefined)?.person;

interface Bearer {
  readonly id: string;
  /** The present handle, if that is another one, and since when the book has it. */
  readonly now: string | undefined;
  readonly since: number;
}

/** Undefined if the book knows no user, or if somebody else had the handle since. */
function bearerOf(handle: string, entry: KnownName | undefined): Bearer | undefined {
  const person = lastUser(entry);
  if (entry === undefined || person?.id === undefined || !isUserId(person.id)) return undefined;
  const { id, identity, later, handleSince, readAt = 0 } = person;
  const since = (later?.handle === undefined ? handleSince : later.at) ?? readAt;
  const present = later?.handle ?? identity.handle ?? handle;
  if (normalHandle(present) === normalHandle(handle)) return { id, now: undefined, since };
  return isTaken(entry, id, since) ? undefined : { id, now: present, since };
}

/** Whether the service named somebody else since, or gave their numbers, which have no id. */
const isTaken = ({ people, answered }: KnownName, id: string, since: number): boolean =>
  (answered?.person && answered.person.id !== id && answered.at > since) ||
  people.some(({ person, to }) => person.id === undefined && to > since);

/** The user who had a handle before the one who was seen with it last. */
function reuseOf(handle: string, entry: KnownName): ReusedHandle | undefined {
  const [now, before] = entry.people.filter(({ person }) => person.id !== undefined);
  if (now?.person.id === undefined || before?.person.id === undefined) return undefined;
  return { handle, before: before.person.id, now: now.person.id, seen: before.to };
}
