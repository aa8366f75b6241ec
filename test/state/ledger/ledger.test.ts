import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readLines } from '../../../src/base/lines.ts';
import type { LedgerEntry } from '../../../src/contract/ports/ledger.ts';
import { openLedger } from '../../../src/state/ledger/ledger.ts';
import { readLedger, summarize } from '../../../src/state/ledger/read-ledger.ts';
import { room, runs } from '../room.ts';

const { under } = room();

const JANUARY = Date.UTC(2026, 0, 15);
const entry = (change: Partial<LedgerEntry> = {}): LedgerEntry => ({
  time: JANUARY,
  command: 'whois',
  profile: 'default',
  endpoint: 'user.handle',
  status: 200,
  cu: 100,
  ...change,
});

/** A ledger with a clock that can be set. */
function open(dir: string | undefined, notice?: (text: string) => void) {
  const clock = { time: JANUARY };
  const now = () => clock.time;
  const sleep = async () => {};
  const ledger = openLedger(
    dir,
    { command: 'whois', profile: 'default', host: 'desk-1' },
    { now, sleep },
    notice,
  );
  return { ledger, clock };
}
const lookup = { endpoint: 'user.handle', most: 200 };

async function all(...range: Parameters<typeof readLedger>) {
  const found: LedgerEntry[] = [];
  for await (const one of readLedger(...range)) found.push(one);
  return found;
}

test('a call that was not sent leaves no entry, a lost call leaves its maximum cost, and a call of unknown price is marked', async () => {
  const dir = under('ends');
  const { ledger } = open(dir);
  await (await ledger.begin(lookup)).release();
  await (await ledger.begin(lookup)).lose({ status: 502 });
  await (await ledger.begin({ endpoint: 'GET /v2/new', most: undefined })).lose({ status: 200 });
  expect(await all(dir)).toMatchObject([
    { status: 502, cu: 0, cuAtMost: 200 },
    { status: 200, cu: 0, unpriced: true },
  ]);
});

test('only the first outcome of a call counts', async () => {
  const dir = under('once');
  const call = await open(dir).ledger.begin(lookup);
  await call.settle({ status: 200, cu: 100 });
  await call.release();
  await call.lose({});
  expect(await all(dir)).toMatchObject([{ status: 200, cu: 100 }]);
});

test('a call that ends on another day stays in the file of the day on which it started', async () => {
  const dir = under('months');
  const { ledger, clock } = open(dir);
  clock.time = Date.UTC(2026, 1, 1) - 1;
  const call = await ledger.begin(lookup);
  clock.time = Date.UTC(2026, 1, 1);
  await call.settle({ status: 200, cu: 100 });
  await ledger.begin({ endpoint: 'user.wallet', most: 30_000 });
  expect(readdirSync(join(dir, 'ledger'))).toEqual(['2026-01-31.ndjson', '2026-02-01.ndjson']);
  expect(statSync(join(dir, 'ledger')).mode & 0o777).toBe(0o700);
  expect(statSync(join(dir, 'ledger', '2026-01-31.ndjson')).mode & 0o777).toBe(0o600);
  expect((await all(dir)).map(({ cu }) => cu)).toEqual([100, 0]);
  expect(await all(dir, Date.UTC(2026, 1, 1))).toMatchObject([{ cuAtMost: 30_000 }]);
  expect(await all(dir, 0, Date.UTC(2026, 1, 1))).toMatchObject([{ cu: 100 }]);
});

test('entries without an id have ended', async () => {
  const dir = under('ended');
  mkdirSync(join(dir, 'ledger'), { recursive: true });
  const ended = [entry({ requestId: 'r' }), entry({ status: null, cu: 0, cuAtMost: 30_000 })];
  writeFileSync(
    join(dir, 'ledger', '2026-01-14.ndjson'),
    ended.map((one) => `${JSON.stringify(one)}\n`).join(''),
  );
  expect(await all(dir)).toEqual(ended);
  await open(dir).ledger.begin(lookup);
  expect(await all(dir)).toHaveLength(3);
});

test('a ledger cut off at any byte keeps its complete lines, accepts new lines, and never loses a maximum cost', async () => {
  const dir = under('torn');
  const file = join(dir, 'ledger', '2026-01-15.ndjson');
  const { ledger } = open(dir);
  await (await ledger.begin(lookup)).settle({ status: 200, cu: 100 });
  const whole = readFileSync(file);
  const first = whole.indexOf('\n') + 1;
  for (let length = 0; length <= whole.length; length++) {
    writeFileSync(file, whole.subarray(0, length));
    await ledger.begin({ endpoint: 'new', most: 1 });
    const kept = (await all(dir)).map(({ cu, cuAtMost = 0 }) => cu + cuAtMost);
    const begun = length >= first - 1 ? [length >= whole.length - 1 ? 100 : 200] : [];
    expect(kept).toEqual([...begun, 1]);
  }
});

test('files of past days sum calls by the hour, keep uncertain calls and maximum costs, and change no total', async () => {
  const dir = under('summed');
  const { ledger, clock } = open(dir);
  clock.time = Date.UTC(2026, 0, 1);
  await ledger.begin({ endpoint: 'users.pnl', most: 3_000_000 });
  await (await ledger.begin(lookup)).lose({ status: 502 });
  for (let at = 0; at < 360 * 4; at++) {
    clock.time = Date.UTC(2026, 0, 1) + at * 240_000;
    await (await ledger.begin(lookup)).settle({ status: 200, cu: 100 });
  }
  const [before, files] = [
    await summarize(readLedger(dir), 'day'),
    readdirSync(join(dir, 'ledger')),
  ];
  expect(files).toHaveLength(4);
  const sizes = () => files.map((name) => statSync(join(dir, 'ledger', name)).size);
  const [, , ...recent] = sizes();
  const [day = 0] = recent;
  clock.time = Date.UTC(2026, 0, 5);
  await ledger.begin(lookup);
  const [first = 0, second = 0, ...others] = sizes();
  expect([first < day / 10, second < day / 10, others]).toEqual([true, true, recent]);
  const after = await summarize(readLedger(dir), 'day');
  expect(after.slice(0, -1)).toEqual(before);
  expect((await all(dir)).filter(({ cuAtMost = 0 }) => cuAtMost > 0)).toMatchObject([
    { status: 502, cuAtMost: 200 },
    { status: null, cuAtMost: 3_000_000 },
    { status: null, cuAtMost: 200 },
  ]);
});

test('lines are complete across chunk boundaries, and overlong ones are skipped', () => {
  const file = under('lines');
  // Characters of several bytes that are repeated until lines are longer than a chunk.
  const line = fc
    .tuple(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.nat(5_000))
    .map(([part, times]) => part.repeat(times));
  const text = fc.array(line, { maxLength: 8 });
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
