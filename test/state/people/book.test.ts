import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Miss, Name, PersonFields, PersonReading } from '../../../src/contract/ports/book.ts';
import { listHandles } from '../../../src/state/known-handles.ts';
import { PeopleBook } from '../../../src/state/people/book.ts';
import { repeats } from '../../repeats.ts';
import { room, workers } from '../room.ts';

const { path, under } = room();
const worker = workers(path);
const HOUR = 3_600_000;
const NOW = 1_700_000_000_000;
const MIRA = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const KATO = '1b4e28ba-2fa1-41d2-883f-0016d3cca427';
const WALLET = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
const OTHER = 'HN7cABqLq46Es1jh92dQQisAq662SmxELLLsHHe4YWrH';
const EVM = '0x52908400098527886E0F7030069857D2E4169EE7';

function bookAt(
  dir: string | undefined,
  { key = 'trdr_test_planted', notices = [] as string[] } = {},
) {
  const baseUrl = 'https://api.example.test';
  return new PeopleBook({ dir, baseUrl, key, notice: (text) => notices.push(text) });
}

const wallet = (normal: string): Name => ({ type: 'wallet', normal });
const handle = (normal: string): Name => ({ type: 'handle', normal });
const id = (normal: string): Name => ({ type: 'id', normal });

function reading(time: number, of: string, identity: PersonFields, asked?: Name): PersonReading {
  return { time, id: of, identity, record: { id: of, ...identity }, asked };
}
const miss = (time: number, asked: Name): Miss => ({ time, asked, isMiss: true });

test('finds a person by every name of the record, after a restart too', async () => {
  const dir = under('names');
  const identity = { handle: 'Mira', solanaAddress: WALLET, evmAddress: EVM, twitter: null };
  await bookAt(dir).keep([reading(NOW, MIRA, identity, handle('mira'))]);
  const names = [handle('mira'), wallet(WALLET), wallet(EVM.toLowerCase()), id(MIRA)];
  for (const known of bookAt(dir).look(names)) {
    expect(known?.people).toHaveLength(1);
    expect(known?.people[0]?.person).toMatchObject({ id: MIRA, readAt: NOW, was: [] });
    expect(known?.people[0]?.person.record).toMatchObject({ handle: 'Mira' });
  }
  expect(bookAt(dir).look([handle('mira')])[0]?.answered).toMatchObject({ at: NOW });
  expect(bookAt(dir).look([wallet(WALLET)])[0]?.answered).toBeUndefined();
  expect(bookAt(dir).look([handle('kato')])).toEqual([undefined]);
});

test('keeps what changed with the times between which it was seen', async () => {
  const book = bookAt(under('history'));
  const first = { handle: 'mira', solanaAddress: WALLET, evmAddress: null, twitter: null };
  await book.keep([reading(NOW, MIRA, first)]);
  await book.keep([reading(NOW + 1, MIRA, first)]);
  await book.keep([reading(NOW + 2, MIRA, { ...first, handle: 'mira_sol' })]);
  await book.keep([reading(NOW + 3, MIRA, { ...first, handle: 'mira_sol', solanaAddress: OTHER })]);
  const [known] = book.look([id(MIRA)]);
  expect(known?.people[0]?.person.was).toEqual([
    { handle: 'mira', from: NOW, to: NOW + 1 },
    { solanaAddress: WALLET, from: NOW, to: NOW + 2 },
  ]);
  expect(known?.people[0]?.person.identity.solanaAddress).toBe(OTHER);
  // The old wallet still leads to the person, who states another one.
  expect(book.look([wallet(WALLET)])[0]?.people[0]?.person.identity.solanaAddress).toBe(OTHER);
});

test('a record without wallets does not end a link', async () => {
  const book = bookAt(under('reveals'));
  await book.keep([reading(NOW, MIRA, { handle: 'mira', solanaAddress: WALLET, evmAddress: EVM })]);
  const bare = { handle: 'mira', solanaAddress: null, evmAddress: null };
  await book.keep([reading(NOW + 1, MIRA, bare)]);
  const person = book.look([wallet(WALLET)])[0]?.people[0]?.person;
  expect(person).toMatchObject({ readAt: NOW + 1, was: [], identity: { solanaAddress: WALLET } });
  expect(person?.record).toMatchObject({ solanaAddress: null });
});

test('several people of one wallet are all found, the one seen last first', async () => {
  const book = bookAt(under('shared'));
  await book.keep([
    reading(NOW, MIRA, { handle: 'mira', solanaAddress: WALLET }),
    reading(NOW + 1, KATO, { handle: 'kato', solanaAddress: WALLET }),
  ]);
  await book.keep([reading(NOW + 2, MIRA, { handle: 'mira', solanaAddress: WALLET })]);
  const people = book.look([wallet(WALLET)])[0]?.people ?? [];
  expect(people.map(({ person, from, to }) => [person.id, from, to])).toEqual([
    [MIRA, NOW, NOW + 2],
    [KATO, NOW + 1, NOW + 1],
  ]);
});

test('tells when a handle belongs to another user than before, once', async () => {
  const book = bookAt(under('reused'));
  expect(await book.keep([reading(NOW, MIRA, { handle: 'mira' })])).toEqual([]);
  const taken = reading(NOW + 5, KATO, { handle: 'Mira' });
  const reused = [{ handle: 'mira', before: MIRA, now: KATO, seen: NOW }];
  expect(await book.keep([taken])).toEqual(reused);
  expect(await book.keep([taken])).toEqual([]);
});

test('keeps misses until the name is seen again', async () => {
  const book = bookAt(under('misses'));
  await book.keep([miss(NOW, handle('mira')), miss(NOW, id(MIRA))]);
  expect(book.look([handle('mira')])[0]).toMatchObject({ answered: { at: NOW, person: null } });
  expect(book.look([id(MIRA)])[0]).toMatchObject({ answered: { at: NOW, person: null } });
  await book.keep([reading(NOW + 1, MIRA, { handle: 'mira' }, handle('mira'))]);
  expect(book.look([handle('mira')])[0]?.answered?.person?.id).toBe(MIRA);
  expect(book.look([id(MIRA)])[0]?.answered?.person?.id).toBe(MIRA);
});

test('numbers lead to a handle, because they have no id', async () => {
  const book = bookAt(under('numbers'));
  const identity = { handle: 'mira', solanaAddress: WALLET, evmAddress: EVM };
  await book.keep([{ time: NOW, identity }]);
  const person = book.look([wallet(WALLET)])[0]?.people[0]?.person;
  expect(person).toMatchObject({ id: undefined, readAt: undefined, identity: { handle: 'mira' } });
});

test('writes an author of posts once an hour, and at once if the handle changed', async () => {
  const dir = under('authors');
  const book = bookAt(dir);
  const size = () => book.stats().bytes;
  await book.keep([post(NOW, 'mira')]);
  const once = size();
  await book.keep([post(NOW + HOUR, 'mira')]);
  expect(size()).toBe(once);
  await book.keep([post(NOW + HOUR + 1, 'mira')]);
  const twice = size();
  expect(twice).toBeGreaterThan(once);
  await book.keep([post(NOW + HOUR + 2, 'mira_sol')]);
  expect(size()).toBeGreaterThan(twice);
  const person = book.look([id(MIRA)])[0]?.people[0]?.person;
  expect(person?.was).toEqual([{ handle: 'mira', from: NOW, to: NOW + HOUR + 1 }]);
});

test('remembers which launchpad name led to somebody else', async () => {
  const book = bookAt(under('tried'));
  await book.noteTried(WALLET, 'mira', NOW);
  await book.keep([reading(NOW + 1, KATO, { handle: 'kato', solanaAddress: WALLET })]);
  expect(book.look([wallet(WALLET)])[0]?.tried).toEqual([{ name: 'mira', at: NOW }]);
});

test('another key or base URL has a book of its own, which nobody else can read', async () => {
  const dir = under('private');
  await bookAt(dir).keep([reading(NOW, MIRA, { handle: 'mira' })]);
  expect(bookAt(dir, { key: 'trdr_test_other' }).look([handle('mira')])).toEqual([undefined]);
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  expect(names.length).toBeGreaterThan(3);
  for (const name of names) {
    expect(name).not.toContain('planted');
    expect(statSync(join(dir, name)).mode & 0o077).toBe(0);
  }
});

test('counts people and wallets, and clears them', async () => {
  const dir = under('stats');
  const book = bookAt(dir);
  expect(book.stats()).toEqual({ people: 0, wallets: 0, bytes: 0, oldest: null });
  const identity = { handle: 'mira', solanaAddress: WALLET, evmAddress: EVM };
  await book.keep([reading(NOW, MIRA, identity), reading(NOW + 1, KATO, { handle: 'kato' })]);
  expect(book.stats()).toMatchObject({ people: 2, wallets: 2, oldest: NOW });
  await book.clear();
  expect(existsSync(book.folder ?? '')).toBe(false);
  await book.keep([reading(NOW, MIRA, identity)]);
  expect(book.stats()).toMatchObject({ people: 1 });
});

test('a book that cannot be written says so once, and loses no answer', async () => {
  const dir = under('full');
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'people'), 'not a folder');
  const notices: string[] = [];
  const book = bookAt(dir, { notices });
  expect(await book.keep([reading(NOW, MIRA, { handle: 'mira' })])).toEqual([]);
  await book.keep([reading(NOW, MIRA, { handle: 'mira' })]);
  expect(notices).toHaveLength(1);
  rmSync(join(dir, 'people'));
  await book.keep([reading(NOW, MIRA, { handle: 'mira' })]);
  expect(book.look([handle('mira')])[0]?.people).toHaveLength(1);
  expect(await bookAt(undefined).keep([reading(NOW, MIRA, { handle: 'mira' })])).toEqual([]);
});

/** `KILL_ROUNDS=n` kills the writers n times, each round in the book of the one before. */
const killRounds = repeats('KILL_ROUNDS', 1, 30);
const writers = repeats('KILL_WRITERS', 2, 10);

test(
  'loses nothing that it has confirmed to writers that are killed',
  async () => {
    const dir = under('killed');
    const names: string[] = [];
    for (let round = 0; round < killRounds; round++) names.push(...(await killWriters(dir, round)));
    expect(names.length).toBeGreaterThan(15 * writers * killRounds);
    const book = new PeopleBook({ dir, baseUrl: 'https://api.example.test', key: 'k' });
    const found = book.look(names.map((name) => id(name)));
    expect(names.filter((_, at) => found[at]?.answered === undefined)).toEqual([]);
    expect(book.look([handle('all')])[0]?.people).toHaveLength(1);
  },
  60_000 * killRounds,
);

/** Starts writers, kills each, and returns the ids of the people whom the book has confirmed to them. */
async function killWriters(dir: string, round: number): Promise<readonly string[]> {
  const confirmed = await Promise.all(
    Array.from({ length: writers }, async (_, number) => {
      const running = worker(['keep', dir, 1_000, `w${round}-${number}`], {
        reject: false,
        buffer: false,
      });
      let printed = '';
      // Each writer is killed at another point of its work.
      running.stdout?.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
        if (printed.split('\n').length > 15 + 4 * number + (round % 5)) running.kill('SIGKILL');
      });
      await running;
      return printed
        .split('\n')
        .slice(0, -1)
        .map((step) => `w${round}-${number}-${step}`);
    }),
  );
  return confirmed.flat();
}

test('completes handles by prefix, latest first, without characters that a shell would interpret', async () => {
  const book = bookAt(under('handles'));
  for (const name of ['anna', 'Bob', 'Ann', 'an;rm', 'an\nx', 'anna']) {
    await book.keep([reading(NOW, `id of ${name}`, { handle: name })]);
  }
  expect(listHandles(book.folder ?? '', '@aN', 9)).toEqual(['anna', 'Ann']);
  expect(listHandles(book.folder ?? '', '', 2)).toEqual(['anna', 'Ann']);
});

/** The user id of mira, the handle and the wallets of her record, and what else was read of her, in order. */
const post = (time: number, name: string): PersonReading => ({
  time,
  id: MIRA,
  identity: { handle: name },
  mayBeOld: true,
});
const numbersOf = (time: number, name: string, solana: string | null): PersonReading => ({
  time,
  identity: { handle: name, solanaAddress: solana, evmAddress: null },
});
const record = (time: number, name: string, solana: string | null = WALLET): PersonReading =>
  reading(time, MIRA, { handle: name, solanaAddress: solana, evmAddress: null });
const shared = (time: number, name: string): PersonReading => ({
  ...record(time, name),
  mayBeOld: true,
});
const former = (value: PersonFields, from: number, to: number) => ({
  ...value,
  from: NOW + from,
  to: NOW + to,
});

test.each<[string, readonly PersonReading[], readonly object[]]>([
  ['an old post', [record(9, 'deuce'), post(2, 'trader2')], []],
  ['a newer post', [record(1, 'trader2'), post(9, 'deuce')], []],
  [
    'a post that the next record confirms',
    [record(1, 'trader2'), post(5, 'deuce'), record(9, 'deuce')],
    [former({ handle: 'trader2' }, 1, 1)],
  ],
  [
    'a post that the next record outdates',
    [record(1, 'trader2'), post(5, 'deuce'), record(9, 'ace')],
    [former({ handle: 'trader2' }, 1, 1), former({ handle: 'deuce' }, 5, 5)],
  ],
  [
    'posts alone, the old one after the new one',
    [post(5, 'deuce'), post(2, 'trader2'), record(9, 'deuce')],
    [],
  ],
  ['an older record of another machine', [record(5, 'deuce'), shared(2, 'trader2')], []],
  [
    'numbers with another wallet, after a record, which the next one confirms',
    [record(1, 'mira'), numbersOf(5, 'mira', OTHER), record(9, 'mira', OTHER)],
    [former({ solanaAddress: WALLET }, 1, 1)],
  ],
  [
    'numbers of a handle that was given up meanwhile',
    [record(1, 'mira'), numbersOf(5, 'mira', OTHER), record(9, 'deuce')],
    [former({ handle: 'mira' }, 1, 1)],
  ],
  [
    'numbers before the first record',
    [numbersOf(1, 'mira', OTHER), record(9, 'mira')],
    [{ ...former({ solanaAddress: OTHER }, 1, 1), byHandle: true }],
  ],
  [
    'numbers without a wallet',
    [record(1, 'mira'), numbersOf(5, 'mira', null), record(9, 'mira')],
    [],
  ],
])('the history has what was read, and no more: %s', async (_, readings, was) => {
  const dir = under('read');
  const book = bookAt(dir);
  for (const each of readings) await book.keep([{ ...each, time: NOW + each.time }]);
  const [known] = bookAt(dir).look([id(MIRA)]);
  const last = readings.filter((each) => each.record && !each.mayBeOld).at(-1);
  expect(known?.people[0]?.person).toMatchObject({ was, identity: last?.identity ?? {} });
  expect(known?.people[0]?.person.record).toEqual(last?.record);
});

test('an old post leads from its handle to the user, behind the user who was seen with it later', async () => {
  const book = bookAt(under('old'));
  await book.keep([reading(NOW, KATO, { handle: 'trader2' }), record(NOW, 'deuce')]);
  expect(await book.keep([post(NOW - HOUR, 'trader2')])).toEqual([]);
  const people = book.look([handle('trader2')])[0]?.people.map(({ person }) => person.id);
  expect(people).toEqual([KATO, MIRA]);
});

test('numbers before the first record lead to its user', async () => {
  const book = bookAt(under('merged'));
  await book.keep([numbersOf(NOW, 'mira', OTHER), record(NOW + 1, 'mira')]);
  const [handles, wallets] = book.look([handle('mira'), wallet(OTHER)]);
  for (const known of [handles, wallets])
    expect(known?.people.map(({ person }) => person.id)).toEqual([MIRA]);
  // Another user who takes the handle has nothing of it.
  await book.keep([reading(NOW + 2, KATO, { handle: 'mira', solanaAddress: EVM })]);
  expect(book.look([id(KATO)])[0]?.people[0]?.person.was).toEqual([]);
});
