import { copySources } from '../../base/json.ts';
import { isRecord, textOf } from '../../base/json-object.ts';
import { normalHandle } from '../../contract/handles.ts';
import type { Sent } from '../../contract/read-record.ts';
import type { Lookup } from '../../core/lookup/lookup.ts';
import { readSubject, type Subject, type SubjectType } from '../../core/lookup/subject.ts';
import { isWanted } from '../../output/terminal/moves-text.ts';
import { type ComparedUserField, comparedUserFields } from '../../output/views/compared-users.ts';
import type { InputIo } from '../read-text.ts';
import {
  openRecords,
  otherValues,
  type RecordFile,
  unreadableFile,
  valuesIn,
} from '../record-file.ts';
import { changeOf, noticeChangedOnly } from './change-of.ts';
import { tableRows } from './table-rows.ts';

/** A record of an earlier output of "trdr whois". */
interface EarlierUser {
  readonly subject: string;
  readonly found: boolean | null;
  readonly sent: Sent;
}

interface FieldChange {
  readonly was: unknown;
  readonly now: unknown;
}

type Changes = Partial<Record<ComparedUserField, FieldChange>>;

const nameFields = ['handle', 'solanaAddress', 'evmAddress', 'id'] as const;

/**
 * The traders of an earlier output. They are read again by their user ids, which stay the same if
 * handles and wallets change, and which cost 100 CU, whatever the subject was.
 */
export class EarlierUsers {
  /** The subjects of the file, each once. */
  readonly subjects: readonly string[];
  readonly #bySubject: ReadonlyMap<string, EarlierUser>;
  readonly #byId = new Map<string, EarlierUser>();
  /** The users by handles and wallets, of which several may have had the same. */
  readonly #byName = new Map<string, Set<EarlierUser>>();
  /** The changes that were counted, of each user once. */
  readonly #counted = new Set<string>();
  /** When the oldest answer was read that this run did not read itself. */
  #readAt: number | undefined;

  private constructor(users: ReadonlyMap<string, EarlierUser>) {
    this.subjects = [...users.values()].map(({ subject }) => subject);
    this.#bySubject = users;
    for (const user of users.values()) {
      const id = idOf(user.sent);
      if (id === undefined) continue;
      // Of several records of one user, any has the id; each is compared by its own subject.
      const same = this.#byId.get(id) ?? user;
      this.#byId.set(id, same);
      for (const field of nameFields) this.#name(textOf(user.sent[field]) ?? '', same);
    }
  }

  /** Reads the file, before anything is paid for. */
  static async read(
    path: string,
    io: InputIo,
    notice: (text: string) => void,
  ): Promise<EarlierUsers> {
    const file = await openRecords(path, io);
    const users = new Map<string, EarlierUser>();
    for await (const { value, where } of file.format === 'table' ? rowsIn(file) : valuesIn(file)) {
      const user = earlierUser(value, file.name, where);
      const key = normalHandle(user.subject);
      const same = users.get(key);
      if (same === undefined) users.set(key, user);
      else if (!isSame(user, same)) throw ambiguous(file.name, user.subject, where);
    }
    if (users.size === 0) throw unreadable(file.name, 'it has no records to compare with');
    const records = [...users.values()].map(({ sent }) => sent);
    noticeChangedOnly(file.name, records, notice);
    return new EarlierUsers(users);
  }

  /** How a subject is looked up now: by the user id, if the file has one. */
  async subjectOf(text: string, as: SubjectType | undefined): Promise<Subject> {
    const subject = await readSubject(text, as);
    const id = idOf(this.#find(subject.text)?.sent);
    if (id === undefined) return subject;
    const { type, value, normal } = await readSubject(id, 'id');
    return { text: subject.text, type, value, normal };
  }

  async *compareAll(
    records: AsyncIterable<Lookup['record']>,
    isChangedOnly: boolean,
  ): AsyncGenerator<Lookup['record'], void, void> {
    for await (const record of records) {
      const compared = this.#compare(record, isChangedOnly);
      if (compared !== undefined) yield compared;
    }
  }

  /** The record with what changed since the file was written; undefined if it is not wanted. */
  #compare(record: Lookup['record'], isChangedOnly: boolean): Lookup['record'] | undefined {
    const before = this.#before(record);
    const changes =
      record.found === true && before?.found === true ? changesOf(record, before.sent) : {};
    const fields = Object.keys(changes);
    const was = before === undefined ? false : before.found;
    const change = changeOf(record.found, was, () => fields.length > 0);
    this.#count(record, change === 'changed' ? fields : [String(change)]);
    const { via, readAt } = record;
    if (via !== 'service' && typeof readAt === 'number')
      this.#readAt = Math.min(readAt, this.#readAt ?? readAt);
    if (!isWanted(change, isChangedOnly, [])) return undefined;
    const compared = record.found === true ? { change, changes } : { change };
    return copySources({ ...record, ...compared }, record);
  }

  /** `2 renamed, 1 other wallet, 0 other X, 0 new, 1 out`. */
  summary(): string {
    const counted = [...this.#counted];
    const count = (kind: string) => counted.filter((key) => key.startsWith(`${kind} `)).length;
    const wallets = count('solanaAddress') + count('evmAddress');
    return [
      `${count('handle')} renamed`,
      `${wallets} other wallet${wallets === 1 ? '' : 's'}`,
      `${count('twitter')} other X`,
      `${count('new')} new`,
      `${count('left')} out`,
      ...(this.#readAt === undefined
        ? []
        : [`by answers that were read since ${new Date(this.#readAt).toISOString()}`]),
    ].join(', ');
  }

  /** A user may be there by several subjects, and is counted once. */
  #count(record: Lookup['record'], kinds: readonly string[]): void {
    const user = idOf(record) ?? normalHandle(record.subject);
    for (const kind of kinds) this.#counted.add(`${kind} ${user}`);
  }

  #name(name: string, user: EarlierUser): void {
    const key = normalHandle(name);
    if (key === '') return;
    const users = this.#byName.get(key) ?? new Set();
    this.#byName.set(key, users.add(user));
  }

  /** The same user, or else what the file has of the same subject. */
  #before(record: Lookup['record']): EarlierUser | undefined {
    const own = this.#bySubject.get(normalHandle(record.subject));
    const id = record.found === true ? idOf(record) : undefined;
    if (own?.found === true && (id === undefined || idOf(own.sent) === id)) return own;
    const same = id === undefined ? undefined : this.#byId.get(id);
    return same ?? own ?? (id === undefined ? this.#find(record.subject) : undefined);
  }

  /** Whom the file has by this name. Several users of a name do not say which of them it is. */
  #find(name: string): EarlierUser | undefined {
    const key = normalHandle(name);
    const own = this.#bySubject.get(key);
    if (own?.found === true) return own;
    const [one, another] = this.#byName.get(key) ?? [];
    return another === undefined ? (own ?? one) : own;
  }
}

const idOf = (sent: Sent | undefined): string | undefined => textOf(sent?.['id'])?.toLowerCase();

const isSame = (one: EarlierUser, other: EarlierUser): boolean =>
  one.found === other.found &&
  idOf(one.sent) === idOf(other.sent) &&
  Object.keys(changesOf(one.sent, other.sent)).length === 0;

/** The fields that both records have, and that are different. */
function changesOf(now: Sent, before: Sent): Changes {
  const changes: Changes = {};
  for (const field of comparedUserFields) {
    // Nothing is known of a field that --fields omitted.
    if (now[field] === undefined || before[field] === undefined) continue;
    if (sameFor(field, now[field]) === sameFor(field, before[field])) continue;
    changes[field] = { was: before[field], now: now[field] };
  }
  return changes;
}

/**
 * Equal for all spellings of a value: only in Solana addresses, upper and lower case are different.
 */
const sameFor = (field: ComparedUserField, value: unknown): unknown =>
  typeof value === 'string' && field !== 'solanaAddress' ? value.toLowerCase() : value;

function earlierUser(value: unknown, name: string, where: string): EarlierUser {
  const sent: Sent = isRecord(value) ? value : {};
  const subject = textOf(sent['subject']) ?? textOf(sent['handle']);
  const found = sent['found'] ?? (textOf(sent['id']) === undefined ? null : true);
  if (subject === undefined || (found !== true && found !== false && found !== null))
    throw unreadable(name, `${where} is not a record of "trdr whois"`);
  if (found === true && textOf(sent['id']) === undefined)
    throw unreadable(name, `${where} has no user id, by which the trader is read again`);
  return { subject, found, sent };
}

const unreadable = (name: string, why: string) =>
  unreadableFile(
    name,
    why,
    'pass an output of "trdr whois": csv, tsv, ndjson or json, with the fields subject, found and id',
  );

const ambiguous = (name: string, subject: string, where: string) =>
  otherValues(name, subject, where, 'keep one output of "trdr whois" in the file');

/** The rows of a table as records. An empty cell is null. */
async function* rowsIn(file: RecordFile): AsyncGenerator<{ value: Sent; where: string }> {
  for await (const { cells, line } of tableRows(file, 'id', unreadable)) {
    const values = [...cells].map(([field, cell]) => [field, cellOf(cell)]);
    yield { value: Object.fromEntries(values), where: `line ${line}` };
  }
}

function cellOf(cell: string): unknown {
  if (cell === '') return null;
  if (cell === 'true' || cell === 'false') return cell === 'true';
  return cell;
}
