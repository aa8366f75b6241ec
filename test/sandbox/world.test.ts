import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Failure } from '../../src/base/failure.ts';
import {
  Board,
  boardPeriods,
  Callout,
  LaunchpadUser,
} from '../../src/contract/records/launchpad.ts';
import { Pnl } from '../../src/contract/records/pnl.ts';
import { Thesis } from '../../src/contract/records/thesis.ts';
import { User } from '../../src/contract/records/user.ts';
import { readSubject } from '../../src/core/lookup/subject.ts';
import { generateRecords, type WorldSize } from '../../src/sandbox/world/generate.ts';
import { loadRecords, readRecording } from '../../src/sandbox/world/load.ts';
import { createWorld } from '../../src/sandbox/world/world.ts';
import { first } from '../conformance/help.ts';
import { openFolder } from '../folder.ts';
import { some } from '../repeats.ts';
import { runs } from '../state/room.ts';

/** A time that is not a full minute. */
const NOW = Date.UTC(2026, 5, 1, 12, 34, 56, 789);
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const seeds = fc.integer({ min: 0, max: 2 ** 31 });

const worldOf = (seed: number, size?: WorldSize) =>
  createWorld(generateRecords(seed, NOW, size), seed);
type World = ReturnType<typeof worldOf>;
const userOf = (world: World, handle: string) => world.user(handle) ?? expect.unreachable(handle);

/** Reads a feed to its end. */
function walk<T extends { id: string }>(
  page: (
    before: string | undefined,
  ) => { readonly items: readonly T[]; readonly hasMore: boolean } | null,
): T[] {
  const all: T[] = [];
  for (;;) {
    const { items, hasMore } = page(all.at(-1)?.id) ?? expect.unreachable();
    all.push(...items);
    if (!hasMore) return all;
  }
}

describe('generated records', () => {
  it('are valid, with valid ids and addresses', async () => {
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const made = generateRecords(seed, NOW, { traders: 20, theses: 100 });
        for (const user of made.users) {
          expect(User.parse(user)).toEqual(user);
          expect(user.id).toMatch(UUID);
        }
        const handles = made.users.map(({ handle }) => handle.toLowerCase());
        for (const names of [handles, made.users.map(({ id }) => id)])
          expect(new Set(names).size).toBe(names.length);
        for (const { solanaAddress, evmAddress } of [...made.users, ...made.unverified.values()]) {
          // The reader of subjects rejects addresses of another length, and wrong checksums.
          for (const address of [solanaAddress, evmAddress])
            if (address !== null) expect((await readSubject(address)).type).toBe('wallet');
        }
        for (const pnl of made.numbers()) Pnl.parse(pnl);
        for (const thesis of made.theses()) Thesis.parse(thesis);
        for (const account of made.accounts()) LaunchpadUser.parse(account);
        for (const callout of made.callouts()) Callout.parse(callout);
        for (const board of some(made.boards(), 30)) Board.parse(board);
      }),
      runs(1),
    );
  });

  it('have ordinary and hostile texts', () => {
    const texts = generateRecords(1, NOW, { theses: 20_000 })
      .theses()
      .map(({ thesis }) => thesis ?? 'null');
    const forms = [
      /^null$/,
      /^$/,
      /.{8000}/s,
      /\u200d/u,
      /[\u3040-\u30ff]/u,
      /[\u0600-\u06ff]/u,
      /\n/,
    ];
    const hostile = [
      /\u001b\[/,
      /\u001b\]/,
      /[\u0080-\u009f]/,
      /^[=+@\t\r-]/,
      /\u202e/,
      /^\{"/,
      /\u0000/,
    ];
    for (const form of [...forms, ...hostile, /\p{Surrogate}/u]) {
      expect([form, texts.filter((text) => form.test(text)).length > 5]).toEqual([form, true]);
    }
  });
});

it('the fixed traders are the same in every world, and match the docs', () => {
  const [one, two] = [generateRecords(1, NOW), generateRecords(2, NOW, { traders: 1 })];
  expect(one.users.slice(0, two.users.length)).toEqual(two.users);
  const world = worldOf(5);
  const of = (handle: string) => userOf(world, handle);
  expect([of('mira').solanaAddress, of('mira').evmAddress]).not.toContain(null);
  expect(world.pnl('mira')?.windows.all?.trades).toBeGreaterThan(500);
  expect([of('0xmert').handle, of('0xmert').solanaAddress]).toEqual(['0xMert', null]);
  expect(of('solwolf').evmAddress).toBeNull();
  expect(of('nowallet')).toMatchObject({ solanaAddress: null, evmAddress: null });
  expect(world.resolvePlan(of('nowallet').id)).toEqual({
    outcome: 'pending',
    reason: 'no_preview',
  });
  expect([of('tokyo').name, of('evil').bio]).toEqual([
    '東京トレーダー',
    expect.stringContaining('\u001b]8;;'),
  ]);
  expect(world.userByWallet(of('mira_alt').evmAddress ?? '')?.handle).toBe('mira');
  expect(world.account(of('mira').solanaAddress ?? '')?.username).toBe('mira');
  expect([world.isSample(of('mira').id), world.isSample(of('evil').id)]).toEqual([true, false]);
});

let dir = '';
beforeEach(() => {
  dir = openFolder();
});

const lines = (records: readonly unknown[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');
const put = (name: string, text: string) => writeFileSync(join(dir, name), text);
const load = () => createWorld(loadRecords(dir), 1);
const fails = (run: () => unknown, failure: Partial<Record<keyof Failure, unknown>>) =>
  expect(run).toThrow(expect.objectContaining({ kind: 'usage', ...failure }));

describe('a world loaded from files', () => {
  it('equals the world that was written to the files', () => {
    const made = worldOf(1, { theses: 400 });
    const theses = walk((before) => made.theses().slice(before, 100, NOW));
    const callouts = walk((before) => made.callouts().slice(before, 25, NOW));
    const boards = boardPeriods.flatMap((period) =>
      [NOW, NOW - 9e7].map((at) => made.board(period, at)),
    );
    const handles = made.handles();
    put('users.ndjson', lines(handles.map((handle) => userOf(made, handle))));
    put('pnl.ndjson', lines(handles.map((handle) => made.pnl(handle))));
    put('theses.ndjson', lines(theses.toReversed()));
    put('callouts.ndjson', lines(callouts.toReversed()));
    put(
      'launchpad-users.ndjson',
      lines(callouts.slice(0, 9).map((one) => made.account(one.wallet))),
    );
    put('boards.ndjson', lines(boards));
    const read = load();
    expect(read.handles()).toEqual(handles);
    for (const handle of handles) {
      const user = userOf(made, handle);
      expect([read.user(handle), read.userById(user.id)]).toEqual([user, user]);
      expect(read.pnl(handle)).toEqual(made.pnl(handle));
      const wallet = user.evmAddress ?? user.solanaAddress ?? '';
      expect(read.userByWallet(wallet)).toEqual(made.userByWallet(wallet));
    }
    expect(walk((before) => read.theses().slice(before, 7, NOW))).toEqual(theses);
    const { authorId } = first(theses);
    const narrowed = walk((before) =>
      read.theses().slice(before, 3, NOW, (post) => post.authorId === authorId),
    );
    expect(narrowed).toEqual(theses.filter((post) => post.authorId === authorId));
    expect(walk((before) => read.callouts().slice(before, 25, NOW))).toEqual(callouts);
    for (const period of boardPeriods) {
      for (const at of [NOW, NOW - 9e7])
        expect(read.board(period, at)).toEqual(made.board(period, at));
      expect(read.board(period, 0).capturedAt).toBeNull();
    }
    expect(read.account(first(callouts).wallet)?.username).toBe(first(callouts).userName);
  });

  it('is empty if a file is missing, keeps unknown fields, and still publishes posts', () => {
    put('users.ndjson', `\ufeff${lines([{ ...userOf(worldOf(1), 'mira'), rating: 5 }])}\r\n`);
    const world = load();
    expect(world.user('mira')).toHaveProperty('rating', 5);
    const none = { items: [], hasMore: false };
    expect(
      [world.theses(), world.callouts()].map((feed) => feed.slice(undefined, 20, NOW)),
    ).toEqual([none, none]);
    expect(world.board('weekly', NOW)).toMatchObject({ capturedAt: null, count: 0 });
    expect(world.pnl('mira')?.windows.all).toBeNull();
    expect(world.addThesis(NOW).authorHandle).toBe('mira');
    expect(world.theses().slice(undefined, 20, NOW)?.items).toHaveLength(1);
    expect(world.addCallout(NOW)).toBeUndefined();
    world.rename(userOf(world, 'mira').id, 'mira2');
    expect(world.pnl('mira2')?.handle).toBe('mira2');
  });

  it('is rejected with the reason: the file and line, the names of the files, or the folder', () => {
    fails(load, { hint: expect.stringContaining('theses.ndjson') });
    put('users.ndjson', '\n{"id":1}\n');
    fails(load, { message: expect.stringMatching(/users\.ndjson:2 .*id/) });
    put('users.ndjson', '{"id"');
    fails(load, { message: expect.stringContaining('users.ndjson:1 is not valid JSON') });
    const [none, file] = [join(dir, 'nowhere'), join(dir, 'users.ndjson')];
    fails(() => loadRecords(none), { message: `the folder ${none} does not exist` });
    fails(() => loadRecords(file), { message: `${file} is not a folder` });
  });
});

it('a recording is read as it was printed', () => {
  const world = worldOf(1);
  const posts = Array.from({ length: 50 }, (_, post) => world.addThesis(NOW + post));
  put('tail.ndjson', lines(posts));
  expect(readRecording(join(dir, 'tail.ndjson'))).toEqual(posts);
  const none = join(dir, 'none.ndjson');
  fails(() => readRecording(none), { message: `cannot read ${none}: it does not exist` });
  put('wrong.ndjson', '{"id":1}\n');
  fails(() => readRecording(join(dir, 'wrong.ndjson')), {
    hint: expect.stringContaining('thesis tail'),
  });
});
