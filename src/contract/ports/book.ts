import type { Sent } from '../read-record.ts';

/** What a person can be looked up by. */
export type NameType = 'handle' | 'wallet' | 'id';

/** A normalized name: handles in lower case without @, EVM addresses and ids in lower case. */
export interface Name {
  readonly type: NameType;
  readonly normal: string;
}

/**
 * What the service stated about a person at one time; a field that it did not state is undefined.
 */
export interface PersonFields {
  readonly handle?: string | null | undefined;
  readonly solanaAddress?: string | null | undefined;
  readonly evmAddress?: string | null | undefined;
  readonly twitter?: string | null | undefined;
}

/** An answer that names a person: a user record, trading numbers, or the author of a post. */
export interface PersonReading {
  /** When trdr received the answer, epoch ms. */
  readonly time: number;
  /** Undefined in trading numbers, which have no id. */
  readonly id?: string | undefined;
  readonly identity: PersonFields;
  /** The whole user record; undefined if the answer was not a user record. */
  readonly record?: Sent | undefined;
  /** The name that was looked up; undefined if the answer was not to a lookup. */
  readonly asked?: Name | undefined;
  /** Posts, and answers of other machines, may be older than what the book has. */
  readonly mayBeOld?: boolean | undefined;
}

/** The service holds nothing under a name. */
export interface Miss {
  readonly time: number;
  readonly asked: Name;
  readonly isMiss: true;
}

/**
 * What a person was called or owned before: the fields that differ, and when they were first and
 * last seen.
 */
export interface Former extends PersonFields {
  readonly from: number;
  readonly to: number;
  /** Read in trading numbers before the user was: the handle may have been somebody else's. */
  readonly byHandle?: true;
}

export interface Person {
  /** Undefined while only trading numbers were read. */
  readonly id: string | undefined;
  readonly identity: PersonFields;
  /** When the latest record was read, epoch ms; undefined if no record was ever read. */
  readonly readAt: number | undefined;
  /** Readers must recognize it, because the book may have been edited. */
  readonly record: unknown;
  /** Oldest first. */
  readonly was: readonly Former[];
  /** When the person was first read with the present handle, epoch ms. */
  readonly handleSince?: number | undefined;
  readonly later?: LaterFields | undefined;
}

/**
 * What answers that are no record have stated since the record was read: the handle of posts, the
 * wallets of trading numbers. The next record confirms it, or not.
 */
export interface LaterFields {
  readonly handle?: string | undefined;
  readonly solanaAddress?: string | undefined;
  readonly evmAddress?: string | undefined;
  /** When it was first stated, epoch ms. */
  readonly at: number;
}

/** A person seen under a name, and when for the first and the last time. */
export interface Sighting {
  readonly person: Person;
  readonly from: number;
  readonly to: number;
}

/** What the book holds under one name. */
export interface KnownName {
  /** The service's own answer to this name: when, and whom it named; null for nobody. */
  readonly answered?: { readonly at: number; readonly person: Person | null } | undefined;
  /** Seen last first. Several people can share a wallet. */
  readonly people: readonly Sighting[];
  /** The names of the wallet's launchpad account that led to somebody else. */
  readonly tried?: readonly TriedName[] | undefined;
}

/** A name that led to somebody else, and when it was tried. */
export interface TriedName {
  readonly name: string;
  readonly at: number;
}

/** A handle that now belongs to another user than when it was last read. */
export interface ReusedHandle {
  readonly handle: string;
  readonly before: string;
  readonly now: string;
  /** When the handle was last seen with the earlier user, epoch ms. */
  readonly seen: number;
}

/** A handle of the past, and what its user is called now. */
export interface RenamedUser {
  readonly handle: string;
  readonly id: string;
  readonly now: string;
  /** When the user was first seen with the present handle, epoch ms. */
  readonly since: number;
}

/** Everybody of whom an answer was paid for, on this machine, for one base URL and key. */
export interface Book {
  /** What the book has, in the order of `names`; undefined for a name that it does not have. */
  look(names: readonly Name[]): readonly (KnownName | undefined)[];
  /**
   * Confirmed when it resolves. A book that cannot be written is reported once and does not fail.
   */
  keep(readings: readonly (PersonReading | Miss)[]): Promise<readonly ReusedHandle[]>;
  /** Remembers that the launchpad name of a wallet led to nobody who has it. */
  noteTried(wallet: string, name: string, at: number): Promise<void>;
}
