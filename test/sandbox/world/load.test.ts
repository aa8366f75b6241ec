import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { boardPeriods } from '../../../src/contract/records/launchpad.ts';
import { loadRecords, readRecording } from '../../../src/sandbox/world/load.ts';
import { createWorld } from '../../../src/sandbox/world/world.ts';
import { first, NOW, userOf, walk, worldOf } from './worlds.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'trdr-data-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const lines = (records: readonly unknown[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');
const put = (name: string, text: string) => writeFileSync(join(dir, name), text);
const load = () => createWorld(loadRecords(dir), 1);

function failureOf(run: () => unknown): Failure {
  try {
    run();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

describe('a world loaded from files', () => {
  it('equals the world that was written to the files', () => {
    const made = worldOf(1, { theses: 400 });
    const theses = walk((before) => made.theses({}, before, 100, NOW));
    const callouts = walk((before) => made.callouts({}, before, NOW));
    const handles = made.handles();
    put('users.ndjson', lines(handles.map((handle) => userOf(made, handle))));
    put('pnl.ndjson', lines(handles.map((handle) => made.pnl(handle))));
    put('theses.ndjson', lines(theses.toReversed()));
    put('callouts.ndjson', lines(callouts.toReversed()));
    put('launchpad-users.ndjson', lines(callouts.slice(0, 9).map((one) => made.account(one.wallet))));
    put(
      'boards.ndjson',
      lines(boardPeriods.flatMap((period) => [NOW, NOW - 9e7].map((at) => made.board(period, at)))),
    );
    const read = load();
    expect(read.handles()).toEqual(handles);
    for (const handle of handles) {
      const user = userOf(made, handle);
      expect(read.user(handle)).toEqual(user);
      expect(read.userById(user.id)).toEqual(user);
      expect(read.pnl(handle)).toEqual(made.pnl(handle));
      const wallet = user.evmAddress ?? user.solanaAddress ?? '';
      expect(read.userByWallet(wallet)).toEqual(made.userByWallet(wallet));
    }
    expect(walk((before) => read.theses({}, before, 7, NOW))).toEqual(theses);
    const { authorId, tokenAddress } = first(theses);
    for (const filter of [{ userId: authorId ?? '' }, { tokenAddress: tokenAddress ?? '' }]) {
      const narrowed = walk((before) => read.theses(filter, before, 3, NOW));
      const known = new Set(narrowed.map((thesis) => thesis.id));
      expect(narrowed).toEqual(theses.filter((thesis) => known.has(thesis.id)));
      expect(narrowed.length).toBeGreaterThan(0);
    }
    expect(walk((before) => read.callouts({}, before, NOW))).toEqual(callouts);
    for (const period of boardPeriods) {
      for (const at of [NOW, NOW - 9e7]) {
        expect(read.board(period, at)).toEqual(made.board(period, at));
      }
      expect(read.board(period, 0).capturedAt).toBeNull();
    }
    expect(read.account(first(callouts).wallet)?.username).toBe(first(callouts).userName);
  });

  it('is empty if a file is missing, and still publishes posts', () => {
    put('users.ndjson', lines([userOf(worldOf(1), 'mira')]));
    const world = load();
    expect(world.theses({}, undefined, 20, NOW)).toEqual({ items: [], hasMore: false });
    expect(world.callouts({}, undefined, NOW)).toEqual({ items: [], hasMore: false });
    expect(world.board('weekly', NOW)).toMatchObject({ capturedAt: null, count: 0 });
    expect(world.pnl('mira')?.windows.all).toBeNull();
    expect(world.addThesis(NOW).authorHandle).toBe('mira');
    expect(world.theses({}, undefined, 20, NOW)?.items).toHaveLength(1);
    expect(world.addCallout(NOW)).toBeUndefined();
    world.rename(userOf(world, 'mira').id, 'mira2');
    expect(world.pnl('mira2')?.handle).toBe('mira2');
  });

  it('keeps unknown fields', () => {
    const mira = userOf(worldOf(1), 'mira');
    put('users.ndjson', `\ufeff${lines([{ ...mira, rating: 5 }])}\r\n`);
    expect(load().user('mira')).toHaveProperty('rating', 5);
  });

  it('reports an invalid line by file and line number', () => {
    put('users.ndjson', '\n{"id":1}\n');
    const wrong = failureOf(() => load());
    expect(wrong.kind).toBe('usage');
    expect(wrong.message).toContain(`${join(dir, 'users.ndjson')}:2`);
    expect(wrong.message).toContain('id');
    put('users.ndjson', '{"id"');
    expect(failureOf(() => load()).message).toContain('users.ndjson:1 is not valid JSON');
  });

  it('rejects a folder without any of its files', () => {
    const failure = failureOf(() => load());
    expect([failure.kind, failure.hint]).toEqual(['usage', expect.stringContaining('theses.ndjson')]);
  });

  it('rejects a path that does not exist or is not a folder', () => {
    put('users.ndjson', '');
    expect(failureOf(() => loadRecords(join(dir, 'nowhere')))).toMatchObject({
      kind: 'usage',
      message: `the folder ${join(dir, 'nowhere')} does not exist`,
    });
    expect(failureOf(() => loadRecords(join(dir, 'users.ndjson')))).toMatchObject({
      kind: 'usage',
      message: `${join(dir, 'users.ndjson')} is not a folder`,
    });
  });
});

describe('a recording', () => {
  it('is read as it was printed', () => {
    const world = worldOf(1);
    const posts = Array.from({ length: 50 }, (_, post) => world.addThesis(NOW + post));
    put('tail.ndjson', lines(posts));
    expect(readRecording(join(dir, 'tail.ndjson'))).toEqual(posts);
    expect(failureOf(() => readRecording(join(dir, 'none.ndjson')))).toMatchObject({
      kind: 'usage',
      message: `cannot read ${join(dir, 'none.ndjson')}: it does not exist`,
    });
    put('wrong.ndjson', '{"id":1}\n');
    expect(failureOf(() => readRecording(join(dir, 'wrong.ndjson'))).hint).toContain('thesis tail');
  });
});
