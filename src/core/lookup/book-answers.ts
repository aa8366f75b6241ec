import { textOf } from '../../base/json-object.ts';
import { normalHandle } from '../../contract/handles.ts';
import type { KnownName, Name, NameType, Person } from '../../contract/ports/book.ts';
import { known, type Sent } from '../../contract/read-record.ts';
import { recognize } from '../../contract/record-types.ts';
import { User } from '../../contract/records/user.ts';
import { type HeldAnswer, heldAnswer } from './lookup.ts';

/** When something was read: a user, or null if the service held nothing. */
interface Reading {
  readonly time: number;
  readonly user: Sent | null;
}

/**
 * The fresh answer to a name without a call; of several people, the one whom the service named
 * itself, else the one seen last. It is from the `cache` if it is the service's own answer to this
 * name, and from the `book` if it was read by another one.
 */
export function keptAnswer(
  name: Name,
  entry: KnownName | undefined,
  isFresh: (reading: Reading) => boolean,
): HeldAnswer | undefined {
  if (entry === undefined) return undefined;
  const own = entry.answered && ownAnswer(name, entry.answered);
  if (own && isFresh(own) && !isOutdated(own, entry))
    return heldAnswer(own.user, own.time, 'cache');
  for (const { person } of entry.people) {
    const user = readUser(person);
    if (user === undefined || person.readAt === undefined || !bears(user, name)) continue;
    if (contradictedAt(person) !== undefined) continue;
    const time = person.readAt;
    if (isFresh({ time, user })) return heldAnswer(user, time, 'book');
  }
  return undefined;
}

/** A miss says nothing about people who were seen under the name later. */
const isOutdated = ({ time, user }: Reading, { people }: KnownName): boolean =>
  user === null && people.some(({ to }) => to > time);

function ownAnswer(
  name: Name,
  { at, person }: NonNullable<KnownName['answered']>,
): Reading | undefined {
  if (person === null) return { time: at, user: null };
  const user = readUser(person);
  if (user === undefined || person.readAt === undefined) return undefined;
  if (contradictedAt(person) !== undefined) return undefined;
  if (bears(user, name)) return { time: person.readAt, user };
  // The service may answer a handle with a record that spells another one, unless that is a rename.
  return name.type === 'handle' && !wasCalled(person, name.normal) ? { time: at, user } : undefined;
}

const wasCalled = ({ was }: Person, handle: string): boolean =>
  was.some((former) => typeof former.handle === 'string' && normalHandle(former.handle) === handle);

/**
 * Since when trading numbers have named another wallet than the record; undefined if they have not.
 */
export function contradictedAt(person: Person): number | undefined {
  const { later } = person;
  const user = later && readUser(person);
  if (user === undefined) return undefined;
  const isOther = (['solanaAddress', 'evmAddress'] as const).some(
    (field) => later?.[field] !== undefined && textOf(user[field]) !== undefined,
  );
  return isOther ? later?.at : undefined;
}

/**
 * People of whom the book says that they may have a wallet, and whom a cheap lookup may confirm:
 * seen last first.
 */
export function possibleOwners(wallet: string, entry: KnownName | undefined): readonly Person[] {
  const people = entry?.people.map(({ person }) => person) ?? [];
  const named = new Set(people.filter(({ id }) => id !== undefined).map(handleOf));
  return people.filter(
    (person) =>
      linkTo(person, wallet) !== 'ended' &&
      // Numbers of a handle and the record of a user with that handle are most likely one person.
      (person.id !== undefined || (handleOf(person) !== undefined && !named.has(handleOf(person)))),
  );
}

/** How many people were seen with a wallet that nothing says they have lost. */
export const ownersSeen = (wallet: string, entry: KnownName | undefined): number =>
  possibleOwners(wallet, entry).length;

const handleOf = ({ identity }: Person): string | undefined =>
  typeof identity.handle === 'string' ? normalHandle(identity.handle) : undefined;

/** Whether the latest identity has a wallet. One that reveals no wallet at all proves nothing. */
function linkTo({ identity, later }: Person, wallet: string): 'has' | 'ended' | 'unknown' {
  const { solanaAddress, evmAddress } = identity;
  const isEvm = [evmAddress, later?.evmAddress].some((evm) => evm?.toLowerCase() === wallet);
  if (isEvm || solanaAddress === wallet || later?.solanaAddress === wallet) return 'has';
  return solanaAddress || evmAddress ? 'ended' : 'unknown';
}

/** Whether a record has a name: this handle, this id, or this wallet as one of its own. */
export function bears(user: Sent, { type, normal }: Name): boolean {
  switch (type) {
    case 'id':
      return textOf(user['id'])?.toLowerCase() === normal;
    case 'handle':
      return normalHandle(textOf(user['handle']) ?? '') === normal;
    case 'wallet':
      return walletsIn(user).includes(normal);
  }
}

/** Read without the schema, because loading it would slow down every lookup that needs no call. */
const walletsIn = (user: Sent): readonly (string | undefined)[] => [
  textOf(user['solanaAddress']),
  textOf(user['evmAddress'])?.toLowerCase(),
];

/**
 * The names under which others may look for a user: id, handle and wallets, besides the one that
 * was asked for.
 */
export function namesIn(user: Sent, asked: Name): readonly Name[] {
  const { id, handle, solanaAddress, evmAddress } = known(User, user);
  const names = new Map<string, Name>();
  const add = (type: NameType, normal: string | null | undefined) => {
    if (normal) names.set(`${type} ${normal}`, { type, normal });
  };
  add(asked.type, asked.normal);
  add('id', id?.toLowerCase());
  add('handle', handle && normalHandle(handle));
  add('wallet', solanaAddress);
  add('wallet', evmAddress?.toLowerCase());
  return [...names.values()];
}

const readUser = ({ record }: Person): Sent | undefined => recognize('user', record)?.record;
