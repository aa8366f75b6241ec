import { isRecord } from '../../base/json-object.ts';
import { normalHandle } from '../../contract/handles.ts';
import type { Former, Name, PersonFields, PersonReading } from '../../contract/ports/book.ts';
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
  readonly record?: unknown;
}

/** Who was seen under one name. */
export interface Way {
  readonly people: readonly Seen[];
  readonly answered?: { readonly at: number; readonly key: string | null } | undefined;
  readonly tried?: { readonly name: string; readonly at: number } | undefined;
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

const fields = ['handle', 'solanaAddress', 'evmAddress', 'twitter'] as const;

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

export function namesStated({ identity }: PersonReading): Name[] {
  const { handle, solanaAddress, evmAddress } = identity;
  const names: Name[] = [];
  if (typeof handle === 'string') names.push({ type: 'handle', normal: normalHandle(handle) });
  for (const wallet of [solanaAddress, evmAddress]) {
    if (typeof wallet === 'string') names.push({ type: 'wallet', normal: normalWallet(wallet) });
  }
  return names;
}

/**
 * A record without any wallet does not prove that the person has none: plans differ in what they
 * reveal.
 */
const revealsNothing = ({ solanaAddress, evmAddress }: PersonFields): boolean =>
  typeof solanaAddress !== 'string' && typeof evmAddress !== 'string';

export function nextPage(page: Page | undefined, reading: PersonReading): Page {
  const { time, record } = reading;
  const stated = statedBy(reading.identity);
  const identity: Draft<PersonFields> = { ...page?.identity };
  const since: Draft<Page['since']> = { ...page?.since };
  const former = new Map<number, Draft<PersonFields>>();
  for (const field of fields) {
    const value = stated[field];
    if (value === undefined || value === identity[field]) continue;
    const before = identity[field];
    if (page && typeof before === 'string') {
      const from = since[field] ?? page.seen;
      former.set(from, { ...former.get(from), [field]: before });
    }
    identity[field] = value;
    since[field] = time;
  }
  const was = [...former].map(([from, values]) => ({ ...values, from, to: page?.seen ?? from }));
  return {
    identity,
    since,
    seen: time,
    readAt: record === undefined ? page?.readAt : time,
    was: [...(page?.was ?? []), ...was].slice(-MOST_FORMER),
    record: record === undefined ? page?.record : record,
  };
}

function statedBy(identity: PersonFields): PersonFields {
  if (!revealsNothing(identity)) return identity;
  return { handle: identity.handle, twitter: identity.twitter };
}

/** The way of a name under which a person was seen. */
export function nextWay(way: Way | undefined, key: string, time: number): Way {
  const others = way?.people.filter((seen) => seen.key !== key) ?? [];
  const from = way?.people.find((seen) => seen.key === key)?.from ?? time;
  return { ...way, people: [{ key, from, to: time }, ...others].slice(0, MOST_PEOPLE) };
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
    return from === undefined || to === undefined ? [] : [{ ...readIdentity(former), from, to }];
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

function readTried(sent: unknown): Way['tried'] {
  if (!isRecord(sent)) return undefined;
  const at = timeOf(sent['at']);
  const name = sent['name'];
  return at === undefined || typeof name !== 'string' ? undefined : { name, at };
}
