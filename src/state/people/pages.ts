import { isRecord } from '../../base/json-object.ts';
import { normalHandle } from '../../contract/handles.ts';
import type {
  Former,
  LaterFields,
  Name,
  PersonFields,
  PersonReading,
  TriedName,
} from '../../contract/ports/book.ts';
import type { Entry } from './keyed-log.ts';

/** What the book has of one person. */
export interface Page {
  readonly identity: PersonFields;
  /** Since when each field of the identity has had its value. */
  readonly since: Readonly<Partial<Record<keyof PersonFields, number>>>;
  /** When the person was last seen in any answer. */
  readonly seen: number;
  readonly readAt?: number | undefined;
  readonly was: readonly Former[];
  readonly later?: LaterFields | undefined;
  readonly record?: unknown;
}

/** Who was seen under one name. */
export interface Way {
  readonly people: readonly Seen[];
  readonly answered?: { readonly at: number; readonly key: string | null } | undefined;
  readonly tried?: readonly TriedName[] | undefined;
}

export interface Seen {
  readonly key: string;
  readonly from: number;
  readonly to: number;
}

/** An object that is still being filled. */
type Draft<T> = { -readonly [Field in keyof T]: T[Field] };

/** More people share no wallet, and more handles nobody had. */
const MOST_PEOPLE = 16;
const MOST_FORMER = 64;
const MOST_TRIED = 4;

const fields = ['handle', 'solanaAddress', 'evmAddress', 'twitter'] as const;
const laterFields = ['handle', 'solanaAddress', 'evmAddress'] as const;

/** The key of a name among the ways. */
export const keyOfName = ({ type, normal }: Name): string => `${type} ${normal}`;

/**
 * The key of a person: the id, or the handle as long as only trading numbers were read, which have
 * no id.
 */
export function keyOfPerson({ id, identity }: PersonReading): string | undefined {
  if (id !== undefined) return `id ${id.toLowerCase()}`;
  const { handle } = identity;
  return typeof handle === 'string' ? `handle ${normalHandle(handle)}` : undefined;
}

export const idInKey = (key: string): string | undefined =>
  key.startsWith('id ') ? key.slice('id '.length) : undefined;

const normalWallet = (address: string): string =>
  address.startsWith('0x') || address.startsWith('0X') ? address.toLowerCase() : address;

export const namesStated = ({ identity }: PersonReading): Name[] => namesOf(identity);

export function namesOf({ handle, solanaAddress, evmAddress }: PersonFields): Name[] {
  const names: Name[] = [];
  if (typeof handle === 'string') names.push({ type: 'handle', normal: normalHandle(handle) });
  for (const wallet of [solanaAddress, evmAddress]) {
    if (typeof wallet === 'string') names.push({ type: 'wallet', normal: normalWallet(wallet) });
  }
  return names;
}

/** Whether the latest that was stated of a person is this handle. */
export function isCalled({ identity, later }: Page, handle: string): boolean {
  const present = later?.handle ?? identity.handle;
  return typeof present === 'string' && normalHandle(present) === handle;
}

/**
 * A record without any wallet does not prove that the person has none: plans differ in what they
 * reveal.
 */
const revealsNothing = ({ solanaAddress, evmAddress }: PersonFields): boolean =>
  typeof solanaAddress !== 'string' && typeof evmAddress !== 'string';

/** The page of a person after a reading. Only a record changes what a record has stated. */
export function nextPage(page: Page | undefined, reading: PersonReading): Page {
  const { time, record, mayBeOld = false } = reading;
  const stated = statedBy(reading.identity);
  if (page === undefined) return { ...changed(emptyPage(time), stated, time), ...readBy(reading) };
  if (record === undefined && page.readAt !== undefined) return withLater(page, stated, time);
  if (mayBeOld && time < (page.readAt ?? page.seen)) return page;
  const settled = page.later && record ? confirmed(page, page.later, stated) : page;
  return { ...changed(settled, stated, time), ...readBy(reading) };
}

/** The first page of a user whose handle was known by trading numbers. */
export function firstPage(numbers: Page, reading: PersonReading): Page {
  const page = nextPage(numbers, reading);
  return { ...page, was: page.was.map((former) => ({ ...former, byHandle: true })) };
}

const emptyPage = (time: number): Page => ({ identity: {}, since: {}, seen: time, was: [] });

const readBy = ({ time, record }: PersonReading): Partial<Page> =>
  record === undefined ? {} : { readAt: time, record };

/** The identity with what was stated at this time; what it replaces becomes history. */
function changed(page: Page, stated: PersonFields, time: number): Page {
  const identity: Draft<PersonFields> = { ...page.identity };
  const since: Draft<Page['since']> = { ...page.since };
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
function withLater(page: Page, stated: PersonFields, time: number): Page {
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
function confirmed(page: Page, later: LaterFields, stated: PersonFields): Page {
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
export function nextWay(way: Way | undefined, key: string, reading: PersonReading): Way {
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

/** The way of a name with one person in place of another, of whom they were found to be the same. */
export function samePerson(way: Way, key: string, as: string): Way {
  const seen = way.people.find((one) => one.key === key);
  const isSeen = way.people.some((one) => one.key === as);
  if (seen === undefined) return way;
  const people = isSeen
    ? way.people.filter((one) => one !== seen)
    : way.people.map((one) => (one === seen ? { ...seen, key: as } : one));
  return { ...way, people };
}

/** The way of a wallet whose launchpad account has a name that led to somebody else. */
export function withTried(way: Way | undefined, tried: TriedName): Way {
  const others = way?.tried?.filter(({ name }) => name !== tried.name) ?? [];
  return { people: [], ...way, tried: [tried, ...others].slice(0, MOST_TRIED) };
}

export const entryOfPage = ({ record, ...page }: Page): Entry => [page, record ?? null];
export const entryOfWay = (way: Way): Entry => [way];

/** Undefined if the entry is damaged: then the person is requested again. */
export function readPageEntry([page, record]: Entry): Page | undefined {
  if (!isRecord(page) || !isRecord(page['identity'])) return undefined;
  const seen = timeOf(page['seen']);
  if (seen === undefined) return undefined;
  return {
    identity: readIdentity(page['identity']),
    since: readSince(page['since']),
    seen,
    readAt: timeOf(page['readAt']),
    was: readFormer(page['was']),
    later: readLater(page['later']),
    record: record ?? undefined,
  };
}

export function readWayEntry([way]: Entry): Way | undefined {
  if (!isRecord(way) || !Array.isArray(way['people'])) return undefined;
  return {
    people: way['people'].filter(isSeen),
    answered: readAnswered(way['answered']),
    tried: readTried(way['tried']),
  };
}

const timeOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

function readIdentity(sent: Readonly<Record<string, unknown>>): PersonFields {
  const identity: Draft<PersonFields> = {};
  for (const field of fields) {
    const value = sent[field];
    if (typeof value === 'string' || value === null) identity[field] = value;
  }
  return identity;
}

function readSince(sent: unknown): Page['since'] {
  const since: Draft<Page['since']> = {};
  for (const field of fields) {
    const time = isRecord(sent) ? timeOf(sent[field]) : undefined;
    if (time !== undefined) since[field] = time;
  }
  return since;
}

function readFormer(sent: unknown): readonly Former[] {
  if (!Array.isArray(sent)) return [];
  return sent.filter(isRecord).flatMap((former) => {
    const from = timeOf(former['from']);
    const to = timeOf(former['to']);
    if (from === undefined || to === undefined) return [];
    const byHandle = former['byHandle'] === true && ({ byHandle: true } as const);
    return [{ ...readIdentity(former), from, to, ...byHandle }];
  });
}

const isSeen = (sent: unknown): sent is Seen =>
  isRecord(sent) &&
  typeof sent['key'] === 'string' &&
  timeOf(sent['from']) !== undefined &&
  timeOf(sent['to']) !== undefined;

function readAnswered(sent: unknown): Way['answered'] {
  if (!isRecord(sent)) return undefined;
  const at = timeOf(sent['at']);
  const key = sent['key'];
  if (at === undefined || (typeof key !== 'string' && key !== null)) return undefined;
  return { at, key };
}

function readLater(sent: unknown): Page['later'] {
  const at = isRecord(sent) ? timeOf(sent['at']) : undefined;
  if (!isRecord(sent) || at === undefined) return undefined;
  const later: Draft<LaterFields> = { at };
  for (const field of laterFields) {
    const value = sent[field];
    if (typeof value === 'string') later[field] = value;
  }
  return later;
}

/** Earlier versions kept one name. */
function readTried(sent: unknown): Way['tried'] {
  const names = Array.isArray(sent) ? sent : [sent];
  return names.filter(isRecord).flatMap(({ name, at }) => {
    const time = timeOf(at);
    return time === undefined || typeof name !== 'string' ? [] : [{ name, at: time }];
  });
}
