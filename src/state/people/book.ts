import type {
  Book,
  KnownName,
  Miss,
  Name,
  Person,
  PersonReading,
  ReusedHandle,
} from '../../contract/ports/book.ts';
import { type KeptFor, KeptLogs } from '../kept-logs.ts';
import type { Entry } from '../keyed-log.ts';
import { noteHandle } from '../known-handles.ts';
import {
  entryOfPage,
  entryOfWay,
  idInKey,
  keyOfName,
  keyOfPerson,
  type NamePage,
  namesStated,
  type PersonPage,
  readPageEntry,
  readWayEntry,
} from './pages.ts';
import type { Writing } from './writing.ts';

export interface BookStats {
  readonly people: number;
  readonly wallets: number;
  readonly bytes: number;
  /** When the person who was not seen for longest was last seen; null in an empty book. */
  readonly oldest: number | null;
}

/** An author who posts all day is noted once an hour. */
const NOTE_MS = 3_600_000;

/**
 * Everybody of whom an answer was paid for. `people/` has the latest record of each person; `ways/`
 * has, for each handle, wallet and id, who was seen under it. A person is written before the ways
 * that lead there, so that a kill in between leaves no way to nobody.
 */
export class PeopleBook implements Book {
  readonly #logs: KeptLogs<'people' | 'ways'>;

  /** The people are kept in the state folder. */
  constructor(owner: KeptFor) {
    this.#logs = new KeptLogs(owner, 'people', ['people', 'ways']);
  }

  get folder(): string | undefined {
    return this.#logs.folder;
  }

  look(names: readonly Name[]): readonly (KnownName | undefined)[] {
    const ways = this.#readWays(names.map(keyOfName));
    const keys = names.filter(({ type }) => type === 'id').map(keyOfName);
    for (const way of ways.values()) addKeysIn(way, keys);
    const people = this.#logs.read('people', keys, seenPerson);
    return names.map((name) => {
      const way = ways.get(keyOfName(name));
      return name.type === 'id' ? knownId(name, way, people) : way && knownName(way, people);
    });
  }

  async keep(readings: readonly (PersonReading | Miss)[]): Promise<readonly ReusedHandle[]> {
    const news = readings.filter((reading) => isLookup(reading) || this.#isNews(reading));
    if (news.length === 0) return [];
    const { Writing } = await import('./writing.ts');
    const written = await this.#logs.write(() => {
      const writing = new Writing(news, this.#entries);
      const { folder } = this;
      if (folder !== undefined)
        for (const { record } of news.filter(hasRecord)) noteHandle(folder, record);
      this.#append(writing);
      return writing.reused;
    });
    return written ?? [];
  }

  async noteTried(wallet: string, name: string, at: number): Promise<void> {
    const { Writing } = await import('./writing.ts');
    await this.#logs.write(() => {
      const writing = new Writing([], this.#entries);
      writing.noteTried(wallet, { name, at });
      this.#append(writing);
    });
  }

  /** Takes over the people of an earlier key whom the book of this one does not have. */
  inherit(earlier: string): Promise<void> {
    return this.#logs.inherit(earlier);
  }

  clear(): Promise<void> {
    return this.#logs.clear();
  }

  /** Reads every file. */
  stats(): BookStats {
    let people = 0;
    let wallets = 0;
    let oldest = Number.POSITIVE_INFINITY;
    const persons = this.#logs.log('people');
    const ways = this.#logs.log('ways');
    for (const [, entry] of persons?.all() ?? []) {
      const page = readPageEntry(entry);
      if (page === undefined) continue;
      people++;
      oldest = Math.min(oldest, page.seen);
    }
    for (const [key] of ways?.all() ?? []) if (key.startsWith('wallet ')) wallets++;
    const bytes = (persons?.bytes() ?? 0) + (ways?.bytes() ?? 0);
    return { people, wallets, bytes, oldest: people === 0 ? null : oldest };
  }

  /**
   * Whether a reading that does not answer a lookup says more than the book had within the hour.
   */
  #isNews(reading: PersonReading): boolean {
    const key = keyOfPerson(reading);
    if (key === undefined) return false;
    const names = namesStated(reading).map(keyOfName);
    const ways = this.#readWays(names);
    // Numbers have no id: the book may have them as those of the user with their handle.
    const isSame = (seen: string) =>
      seen === key || (reading.id === undefined && idInKey(seen) !== undefined);
    return names.some((name) => {
      const people = ways.get(name)?.people ?? [];
      const last = reading.mayBeOld ? people.find((seen) => isSame(seen.key)) : people[0];
      return last === undefined || !isSame(last.key) || reading.time - last.to > NOTE_MS;
    });
  }

  /** Requires the lock. */
  #append({ page, way }: Writing): void {
    this.#logs.log('people')?.append(page.changed(entryOfPage));
    this.#logs.log('ways')?.append(way.changed(entryOfWay));
  }

  readonly #entries = {
    pages: (keys: readonly string[]) => this.#readPages(keys),
    ways: (keys: readonly string[]) => this.#readWays(keys),
  };

  #readWays(keys: readonly string[]): Map<string, NamePage> {
    return this.#logs.read('ways', keys, readWayEntry);
  }

  #readPages(keys: readonly string[]): Map<string, PersonPage> {
    return this.#logs.read('people', keys, readPageEntry);
  }
}

const isLookup = (
  reading: PersonReading | Miss,
): reading is Miss | (PersonReading & { asked: Name }) =>
  'isMiss' in reading || reading.record !== undefined || reading.asked !== undefined;

const hasRecord = (reading: PersonReading | Miss): reading is PersonReading =>
  'record' in reading && reading.record !== undefined;

function addKeysIn({ people, answered }: NamePage, keys: string[]): void {
  for (const { key } of people) keys.push(key);
  if (answered?.key) keys.push(answered.key);
}

/** A person as a lookup needs them, and when they were last seen in any answer. */
interface SeenPerson {
  readonly person: Person;
  readonly seen: number;
}

/** It keeps no more of the page than that, because a lookup may have ten thousand of them. */
function seenPerson(entry: Entry, key: string): SeenPerson | undefined {
  const page = readPageEntry(entry);
  if (page === undefined) return undefined;
  const { identity, readAt, record, was, since, later, seen } = page;
  const id = idInKey(key);
  return { person: { id, identity, readAt, record, was, handleSince: since.handle, later }, seen };
}

function knownName(way: NamePage, people: ReadonlyMap<string, SeenPerson>): KnownName {
  const seen: KnownName['people'][number][] = [];
  for (const { key, from, to } of way.people) {
    const person = people.get(key)?.person;
    if (person) seen.push({ person, from, to });
  }
  return { people: seen, answered: answeredBy(way, people), tried: way.tried };
}

function answeredBy(
  { answered }: NamePage,
  people: ReadonlyMap<string, SeenPerson>,
): KnownName['answered'] {
  if (!answered || answered.key === null) return answered && { at: answered.at, person: null };
  const person = people.get(answered.key)?.person;
  return person && { at: answered.at, person };
}

/** A person is found by id without a way; only misses of ids are among the ways. */
function knownId(
  name: Name,
  way: NamePage | undefined,
  people: ReadonlyMap<string, SeenPerson>,
): KnownName | undefined {
  const known = people.get(keyOfName(name));
  if (!known) return way && knownName(way, people);
  const { person, seen } = known;
  const seenOnce = [{ person, from: seen, to: seen }];
  const missedAt = way?.answered?.key === null ? way.answered.at : undefined;
  const { readAt } = person;
  if (missedAt !== undefined && missedAt > (readAt ?? 0)) {
    return { people: seenOnce, answered: { at: missedAt, person: null } };
  }
  return {
    people: seenOnce,
    answered: readAt === undefined ? undefined : { at: readAt, person },
  };
}
