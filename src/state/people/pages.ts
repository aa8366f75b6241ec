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
import { numberOf } from '../../contract/read-record.ts';
import type { Entry } from '../keyed-log.ts';

/** What the book has of one person. */
export interface PersonPage {
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
export interface NamePage {
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
export type Draft<T> = { -readonly [Field in keyof T]: T[Field] };

export const fields = ['handle', 'solanaAddress', 'evmAddress', 'twitter'] as const;
export const laterFields = ['handle', 'solanaAddress', 'evmAddress'] as const;

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

export const entryOfPage = ({ record, ...page }: PersonPage): Entry => [page, record ?? null];
export const entryOfWay = (way: NamePage): Entry => [way];

/** Undefined if the entry is damaged: then the person is requested again. */
export function readPageEntry([page, record]: Entry): PersonPage | undefined {
  if (!isRecord(page) || !isRecord(page['identity'])) return undefined;
  const seen = numberOf(page['seen']);
  if (seen === undefined) return undefined;
  return {
    identity: readIdentity(page['identity']),
    since: readSince(page['since']),
    seen,
    readAt: numberOf(page['readAt']),
    was: readFormer(page['was']),
    later: readLater(page['later']),
    record: record ?? undefined,
  };
}

export function readWayEntry([way]: Entry): NamePage | undefined {
  if (!isRecord(way) || !Array.isArray(way['people'])) return undefined;
  return {
    people: way['people'].filter(isSeen),
    answered: readAnswered(way['answered']),
    tried: readTried(way['tried']),
  };
}

function readIdentity(sent: Readonly<Record<string, unknown>>): PersonFields {
  const identity: Draft<PersonFields> = {};
  for (const field of fields) {
    const value = sent[field];
    if (typeof value === 'string' || value === null) identity[field] = value;
  }
  return identity;
}

function readSince(sent: unknown): PersonPage['since'] {
  const since: Draft<PersonPage['since']> = {};
  for (const field of fields) {
    const time = isRecord(sent) ? numberOf(sent[field]) : undefined;
    if (time !== undefined) since[field] = time;
  }
  return since;
}

function readFormer(sent: unknown): readonly Former[] {
  if (!Array.isArray(sent)) return [];
  return sent.filter(isRecord).flatMap((former) => {
    const from = numberOf(former['from']);
    const to = numberOf(former['to']);
    if (from === undefined || to === undefined) return [];
    const byHandle = former['byHandle'] === true && ({ byHandle: true } as const);
    return [{ ...readIdentity(former), from, to, ...byHandle }];
  });
}

const isSeen = (sent: unknown): sent is Seen =>
  isRecord(sent) &&
  typeof sent['key'] === 'string' &&
  numberOf(sent['from']) !== undefined &&
  numberOf(sent['to']) !== undefined;

function readAnswered(sent: unknown): NamePage['answered'] {
  if (!isRecord(sent)) return undefined;
  const at = numberOf(sent['at']);
  const key = sent['key'];
  if (at === undefined || (typeof key !== 'string' && key !== null)) return undefined;
  return { at, key };
}

function readLater(sent: unknown): PersonPage['later'] {
  const at = isRecord(sent) ? numberOf(sent['at']) : undefined;
  if (!isRecord(sent) || at === undefined) return undefined;
  const later: Draft<LaterFields> = { at };
  for (const field of laterFields) {
    const value = sent[field];
    if (typeof value === 'string') later[field] = value;
  }
  return later;
}

/** Earlier versions kept one name. */
function readTried(sent: unknown): NamePage['tried'] {
  const names = Array.isArray(sent) ? sent : [sent];
  return names.filter(isRecord).flatMap(({ name, at }) => {
    const time = numberOf(at);
    return time === undefined || typeof name !== 'string' ? [] : [{ name, at: time }];
  });
}
