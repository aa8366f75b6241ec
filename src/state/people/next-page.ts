import { normalHandle } from '../../contract/handles.ts';
import type {
  LaterFields,
  PersonFields,
  PersonReading,
  TriedName,
} from '../../contract/ports/book.ts';
import {
  type Draft,
  fields,
  laterFields,
  type NamePage,
  type PersonPage,
  type Seen,
} from './pages.ts';

/** More people share no wallet, and more handles nobody had. */
const MOST_PEOPLE = 16;
const MOST_FORMER = 64;
const MOST_TRIED = 4;

/** Whether the latest that was stated of a person is this handle. */
export function isCalled({ identity, later }: PersonPage, handle: string): boolean {
  const present = later?.handle ?? identity.handle;
  return typeof present === 'string' && normalHandle(present) === handle;
}

/**
 * A record without any wallet does not prove that the person has none: plans differ in what they
 * reveal.
 */
const revealsNothing = ({ solanaAddress, evmAddress }: PersonFields): boolean =>
  !solanaAddress && !evmAddress;

/** The page of a person after a reading. Only a record changes what a record has stated. */
export function nextPage(page: PersonPage | undefined, reading: PersonReading): PersonPage {
  const { time, record, mayBeOld = false } = reading;
  const stated = statedBy(reading.identity);
  if (page === undefined) return { ...changed(emptyPage(time), stated, time), ...readBy(reading) };
  if (record === undefined && page.readAt !== undefined) return withLater(page, stated, time);
  if (mayBeOld && time < (page.readAt ?? page.seen)) return page;
  const settled = page.later && record ? confirmed(page, page.later, stated) : page;
  return { ...changed(settled, stated, time), ...readBy(reading) };
}

/** The first page of a user whose handle was known by trading numbers. */
export function firstPage(numbers: PersonPage, reading: PersonReading): PersonPage {
  const page = nextPage(numbers, reading);
  return { ...page, was: page.was.map((former) => ({ ...former, byHandle: true })) };
}

const emptyPage = (time: number): PersonPage => ({ identity: {}, since: {}, seen: time, was: [] });

const readBy = ({ time, record }: PersonReading): Partial<PersonPage> =>
  record === undefined ? {} : { readAt: time, record };

/** The identity with what was stated at this time; what it replaces becomes history. */
function changed(page: PersonPage, stated: PersonFields, time: number): PersonPage {
  const identity: Draft<PersonFields> = { ...page.identity };
  const since: Draft<PersonPage['since']> = { ...page.since };
  const former = new Map<number, Draft<PersonFields>>();
  for (const field of fields) {
    const value = stated[field];
    if (value === undefined || value === identity[field]) continue;
    const before = identity[field];
    if (typeof before === 'string') {
      const from = since[field] ?? page.seen;
      former.set(from, { ...former.get(from), [field]: before });
    }
    identity[field] = value;
    since[field] = time;
  }
  const was = [...former].map(([from, values]) => ({ ...values, from, to: page.seen }));
  return { ...page, identity, since, seen: time, was: [...page.was, ...was].slice(-MOST_FORMER) };
}

/** Numbers without a wallet do not state that the person has lost it. */
function withLater(page: PersonPage, stated: PersonFields, time: number): PersonPage {
  const { identity, later, readAt = 0 } = page;
  if (time < (later?.at ?? readAt)) return page;
  const next: Draft<LaterFields> = { ...later, at: time };
  let isSame = true;
  for (const field of laterFields) {
    const value = stated[field];
    if (typeof value !== 'string') continue;
    isSame &&= isEqual(field, value, later?.[field] ?? identity[field]);
    if (isEqual(field, value, identity[field])) delete next[field];
    else next[field] = value;
  }
  if (isSame) return later ? page : { ...page, seen: Math.max(page.seen, time) };
  return { ...page, later: laterFields.some((field) => next[field]) ? next : undefined };
}

/**
 * What was stated before this record is history. The wallets of numbers are those of the user
 * who had the handle then, so they count only if the person still has it.
 */
function confirmed(page: PersonPage, later: LaterFields, stated: PersonFields): PersonPage {
  const isNamed = typeof stated.handle === 'string' && isCalled(page, normalHandle(stated.handle));
  if (!isNamed && later.handle === undefined) return { ...page, later: undefined };
  const counted = isNamed ? later : { handle: later.handle };
  return { ...changed(page, counted, later.at), later: undefined };
}

/** Only in Solana addresses, upper and lower case are different. */
function isEqual(
  field: keyof PersonFields,
  one: string,
  other: string | null | undefined,
): boolean {
  if (field === 'solanaAddress' || typeof other !== 'string') return one === other;
  return one.toLowerCase() === other.toLowerCase();
}

function statedBy(identity: PersonFields): PersonFields {
  if (!revealsNothing(identity)) return identity;
  return { handle: identity.handle, twitter: identity.twitter };
}

/** The way of a name under which a person was seen: seen last first. */
export function nextWay(way: NamePage | undefined, key: string, reading: PersonReading): NamePage {
  const { time, mayBeOld } = reading;
  const others = way?.people.filter((seen) => seen.key !== key) ?? [];
  const before = way?.people.find((seen) => seen.key === key);
  if (!mayBeOld)
    return { ...way, people: withSeen(others, 0, { from: time, ...before, key, to: time }) };
  const from = Math.min(time, before?.from ?? time);
  const to = Math.max(time, before?.to ?? time);
  const at = others.findIndex((other) => other.to <= to);
  return { ...way, people: withSeen(others, at < 0 ? others.length : at, { key, from, to }) };
}

const withSeen = (others: readonly Seen[], at: number, seen: Seen): readonly Seen[] =>
  [...others.slice(0, at), seen, ...others.slice(at)].slice(0, MOST_PEOPLE);

/**
 * The way of a name with one person in place of another, of whom they were found to be the same.
 */
export function samePerson(way: NamePage, key: string, as: string): NamePage {
  const seen = way.people.find((one) => one.key === key);
  const isSeen = way.people.some((one) => one.key === as);
  if (seen === undefined) return way;
  const people = isSeen
    ? way.people.filter((one) => one !== seen)
    : way.people.map((one) => (one === seen ? { ...seen, key: as } : one));
  return { ...way, people };
}

/** The way of a wallet whose launchpad account has a name that led to somebody else. */
export function withTried(way: NamePage | undefined, tried: TriedName): NamePage {
  const others = way?.tried?.filter(({ name }) => name !== tried.name) ?? [];
  return { people: [], ...way, tried: [tried, ...others].slice(0, MOST_TRIED) };
}
