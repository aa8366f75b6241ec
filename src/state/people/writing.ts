import { normalHandle } from '../../contract/handles.ts';
import type {
  Miss,
  Name,
  PersonReading,
  ReusedHandle,
  TriedName,
} from '../../contract/ports/book.ts';
import type { Entry } from '../keyed-log.ts';
import { firstPage, isCalled, nextPage, nextWay, samePerson, withTried } from './next-page.ts';
import {
  idInKey,
  keyOfName,
  keyOfPerson,
  type NamePage,
  namesOf,
  namesStated,
  type PersonPage,
} from './pages.ts';

/** What the book has of people, and of the names that lead to them. */
interface BookEntries {
  pages(keys: readonly string[]): Map<string, PersonPage>;
  ways(keys: readonly string[]): Map<string, NamePage>;
}

/** What one write changes. Later readings see what earlier ones changed. */
export class Writing {
  readonly page: Changes<PersonPage>;
  readonly way: Changes<NamePage>;
  readonly reused: ReusedHandle[] = [];

  constructor(readings: readonly (PersonReading | Miss)[], { pages, ways }: BookEntries) {
    this.page = new Changes(readings.flatMap(personIn), pages);
    this.way = new Changes(readings.flatMap(namesIn), ways);
    for (const reading of readings) this.#add(reading);
  }

  noteTried(wallet: string, tried: TriedName): void {
    const name = keyOfName({ type: 'wallet', normal: wallet });
    this.way.set(name, withTried(this.way.get(name), tried));
  }

  #add(reading: PersonReading | Miss): void {
    if ('isMiss' in reading) {
      this.#answer(reading.asked, reading.time, null);
      return;
    }
    const key = this.#keyOf(reading);
    if (key === undefined) return;
    const page = this.page.get(key);
    const numbers = page ? undefined : this.#numbersOf(key, reading);
    this.page.set(key, numbers ? firstPage(numbers, reading) : nextPage(page, reading));
    for (const name of namesStated(reading)) {
      const before = this.way.get(keyOfName(name));
      if (name.type === 'handle') this.reused.push(...reuseOf(name.normal, before, key, reading));
      this.way.set(keyOfName(name), nextWay(before, key, reading));
    }
    if (reading.asked) this.#answer(reading.asked, reading.time, key, reading.mayBeOld);
  }

  /** Numbers are those of the user whom the book knows with their handle, if there is one. */
  #keyOf(reading: PersonReading): string | undefined {
    const { handle } = reading.identity;
    if (reading.id !== undefined || typeof handle !== 'string') return keyOfPerson(reading);
    const normal = normalHandle(handle);
    const holder = this.way.get(keyOfName({ type: 'handle', normal }))?.people[0]?.key;
    const page = holder === undefined || !idInKey(holder) ? undefined : this.page.get(holder);
    return page && isCalled(page, normal) ? holder : keyOfPerson(reading);
  }

  /**
   * What numbers said of the handle before its user was read for the first time, if no other user
   * had it.
   */
  #numbersOf(key: string, { record, identity }: PersonReading): PersonPage | undefined {
    if (record === undefined || typeof identity.handle !== 'string') return undefined;
    const name = keyOfName({ type: 'handle', normal: normalHandle(identity.handle) });
    const numbers = this.page.get(name);
    const others = this.way.get(name)?.people.some((seen) => seen.key !== name) ?? false;
    if (numbers === undefined || others) return undefined;
    for (const each of namesOf(numbers.identity).map(keyOfName)) {
      const way = this.way.get(each);
      if (way) this.way.set(each, samePerson(way, name, key));
    }
    return numbers;
  }

  #answer(asked: Name, at: number, key: string | null, mayBeOld = false): void {
    const name = keyOfName(asked);
    const before = this.way.get(name) ?? { people: [] };
    if (mayBeOld && before.answered && before.answered.at > at) return;
    this.way.set(name, { ...before, answered: { at, key } });
  }
}

/** The entries of a log with what is changed in them. */
class Changes<T> {
  readonly #entries: Map<string, T>;
  readonly #looked: Set<string>;
  readonly #read: (keys: readonly string[]) => Map<string, T>;
  readonly #touched = new Set<string>();

  /** These keys are read at once, others when they are needed. */
  constructor(keys: readonly string[], read: (keys: readonly string[]) => Map<string, T>) {
    this.#entries = read(keys);
    this.#looked = new Set(keys);
    this.#read = read;
  }

  get(key: string): T | undefined {
    if (!this.#looked.has(key)) {
      const entry = this.#read([key]).get(key);
      if (entry !== undefined) this.#entries.set(key, entry);
      this.#looked.add(key);
    }
    return this.#entries.get(key);
  }

  set(key: string, value: T): void {
    this.#entries.set(key, value);
    this.#touched.add(key);
  }

  changed(write: (value: T) => Entry): Map<string, Entry> {
    const entries = new Map<string, Entry>();
    for (const key of this.#touched) {
      const value = this.#entries.get(key);
      if (value !== undefined) entries.set(key, write(value));
    }
    return entries;
  }
}

/** A post may be older than the last reading of the handle, so it proves nothing of this kind. */
function reuseOf(
  handle: string,
  way: NamePage | undefined,
  key: string,
  { mayBeOld = false }: PersonReading,
): ReusedHandle[] {
  const now = mayBeOld ? undefined : idInKey(key);
  const last = way?.people.find((seen) => idInKey(seen.key) !== undefined);
  const before = last && idInKey(last.key);
  if (!last || before === undefined || now === undefined || before === now) return [];
  return [{ handle, before, now, seen: last.to }];
}

function personIn(reading: PersonReading | Miss): string[] {
  const key = 'isMiss' in reading ? undefined : keyOfPerson(reading);
  return key === undefined ? [] : [key];
}

function namesIn(reading: PersonReading | Miss): string[] {
  const names = 'isMiss' in reading ? [] : namesStated(reading);
  return [...names, ...(reading.asked ? [reading.asked] : [])].map(keyOfName);
}
