import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readLines } from '../../src/base/lines.ts';
import { type LedgerEntry, openLedger, readEntry, readLedger, summarise } from '../../src/state/ledger.ts';
import { anyText, room, runs, workers } from './room.ts';

const { path, under } = room();
const worker = workers(path);

const entry = (change: Partial<LedgerEntry> = {}): LedgerEntry => ({
  time: Date.UTC(2026, 0, 15),
  command: 'whois',
  profile: 'default',
  endpoint: 'user.handle',
  status: 200,
  cu: 100,
  ...change,
});

async function all(range: Parameters<typeof readLedger>[0]) {
  const found: LedgerEntry[] = [];
  for await (const one of readLedger(range)) found.push(one);
  return found;
}

test('what is written is read back, and lies in a private file of its UTC month', async () => {
  const dir = under('months');
  const ledger = openLedger({ dir });
  const written = [
    entry({ requestId: 'r1' }),
    entry({ time: Date.UTC(2026, 1, 1) - 1 }),
    entry({ time: Date.UTC(2026, 1, 1), status: null, cu: 0, cuAtMost: 30_000 }),
  ];
  for (const one of written) ledger.append(one);
  expect(readdirSync(join(dir, 'ledger'))).toEqual(['2026-01.ndjson', '2026-02.ndjson']);
  expect(statSync(join(dir, 'ledger')).mode & 0o777).toBe(0o700);
  expect(statSync(join(dir, 'ledger', '2026-01.ndjson')).mode & 0o777).toBe(0o600);
  expect(await all({ dir })).toEqual(written);
  expect(await all({ dir, since: Date.UTC(2026, 1, 1) - 1 })).toEqual(written.slice(1));
  expect(await all({ dir, until: Date.UTC(2026, 1, 1) - 1 })).toEqual(written.slice(0, 1));
});

test('nothing but the fields of an entry is written, whatever else the object holds', () => {
  const dir = under('fields');
  const generous = { ...entry(), key: 'trdr_live_planted', body: 'planted' };
  openLedger({ dir }).append(generous);
  expect(readFileSync(join(dir, 'ledger', '2026-01.ndjson'), 'utf8')).not.toContain('planted');
});

test('eight processes writing at once lose no entry', async () => {
  const dir = under('crowd');
  await Promise.all(Array.from({ length: 8 }, (_, who) => worker(['ledger', dir, 200, `w${who}`])));
  const sums = await summarise(readLedger({ dir }), 'command');
  expect(sums).toHaveLength(8);
  expect(sums.every(({ calls, cu }) => calls === 200 && cu === 20_000)).toBe(true);
});

test('a ledger torn at any byte keeps its whole lines and takes new ones', async () => {
  const dir = under('torn');
  const file = join(dir, 'ledger', '2026-01.ndjson');
  const ledger = openLedger({ dir });
  ledger.append(entry({ cu: 1 }));
  ledger.append(entry({ cu: 2 }));
  const whole = readFileSync(file);
  const second = whole.indexOf('\n') + 1;
  for (let length = 0; length <= whole.length; length++) {
    writeFileSync(file, whole.subarray(0, length));
    ledger.append(entry({ cu: 3 }));
    const kept = (await all({ dir })).map(({ cu }) => cu);
    const lines = [...(length >= second - 1 ? [1] : []), ...(length >= whole.length - 1 ? [2] : [])];
    expect(kept).toEqual([...lines, 3]);
  }
});

test.each([['/dev/null/none'], [undefined]])(
  'where it cannot be written (%s) it says so once and goes on',
  (dir) => {
    const notices: string[] = [];
    const ledger = openLedger({ dir, notice: (text) => notices.push(text) });
    ledger.append(entry());
    ledger.append(entry({ time: Number.NaN }));
    expect(notices).toEqual([expect.stringContaining('is not written down')]);
  },
);

test('a ledger that is not there is empty', async () => {
  expect(await all({ dir: under('absent') })).toEqual([]);
  expect(await all({ dir: '/dev/null/none' })).toEqual([]);
  expect(await all({ dir: undefined })).toEqual([]);
});

test('sums go by cost, days by date, and what may have been lost is told apart', async () => {
  const entries = [
    entry({ command: 'pnl', cu: 30_000, time: Date.UTC(2026, 0, 2) }),
    entry({ cu: 100, time: Date.UTC(2026, 0, 1) }),
    entry({ cu: 0, status: null, cuAtMost: 200, time: Date.UTC(2026, 0, 3) }),
  ];
  expect(await summarise(entries, 'command')).toEqual([
    { group: 'pnl', calls: 1, cu: 30_000, atMost: 30_000 },
    { group: 'whois', calls: 2, cu: 100, atMost: 300 },
  ]);
  expect((await summarise(entries, 'day')).map(({ group }) => group)).toEqual([
    '2026-01-01',
    '2026-01-02',
    '2026-01-03',
  ]);
  expect(await summarise([entry({ time: 9e15 })], 'day')).toMatchObject([{ group: 'unknown' }]);
});

test('any text is an entry or none, and an entry reads back as it was', () => {
  const entries = fc.record({
    time: fc.integer(),
    command: fc.string(),
    profile: fc.string({ unit: 'binary' }),
    endpoint: fc.string(),
    status: fc.option(fc.nat()),
    cu: fc.nat(),
  });
  fc.assert(
    fc.property(entries, (one) => {
      expect(readEntry(JSON.stringify(one))).toEqual(one);
    }),
    runs(200),
  );
  fc.assert(
    fc.property(anyText, (text) => {
      const one = readEntry(text);
      if (one) expect(Number.isFinite(one.time + one.cu)).toBe(true);
    }),
    runs(500),
  );
});

test('lines are whole wherever the pieces they are read in end, and overlong ones are left out', () => {
  const file = under('lines');
  const text = fc.array(fc.string({ unit: 'grapheme', maxLength: 50_000, size: 'max' }), { maxLength: 8 });
  fc.assert(
    fc.property(text, fc.boolean(), (parts, ended) => {
      const lines = parts.map((part) => part.replaceAll('\n', ' '));
      writeFileSync(file, lines.join('\n') + (ended ? '\n' : ''));
      expect([...readLines(file)]).toEqual(lines.filter((line) => line !== ''));
    }),
    runs(60),
  );
  writeFileSync(file, `a\n${'x'.repeat(300_000)}\nb\n${'y'.repeat(300_000)}`);
  expect([...readLines(file, 200_000)]).toEqual(['a', 'b']);
});
