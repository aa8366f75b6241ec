import { appendFileSync, chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LedgerEntry } from '../../../src/contract/ports/ledger.ts';
import type { Caps } from '../../../src/state/ledger/budget.ts';
import { openLedger } from '../../../src/state/ledger/ledger.ts';
import { entryText } from '../../../src/state/ledger/lines.ts';
import { readLedger, summarize } from '../../../src/state/ledger/read-ledger.ts';
import { virtualClock } from '../../core/virtual-clock.ts';
import { asPlainUser } from '../../plain-user.ts';
import { some } from '../../repeats.ts';
import { room, workers } from '../room.ts';

const { path, under } = room();
const worker = workers(path);

const NOON = Date.UTC(2026, 10, 22, 12);
const HOUR = 3_600_000;

/** The ledger of one process, with the budgets of a profile. */
function open(
  dir: string | undefined,
  caps: Partial<Caps>,
  { clock = virtualClock(NOON), profile = 'desk' } = {},
) {
  const limits: Caps = { ...caps };
  const ledger = openLedger(dir, { command: 'whois', profile, host: 'h' }, clock, undefined, {
    caps: () => limits,
  });
  return { ledger, clock, limits };
}
const reveal = { endpoint: 'user.handle', most: 30_000 };
const beyond = { endpoint: 'x', most: 70_001 };
const entryAt = (time: number, cu: number): LedgerEntry => {
  const call = { command: 'c', profile: 'desk', endpoint: 'e', status: 200 };
  return { time, cu, ...call };
};

test('lost answers count at their maximum, and so do calls of processes that died', async () => {
  const dir = under('lost');
  const { ledger, clock } = open(dir, { budgetDay: 100_000 });
  await (await ledger.begin(reveal)).lose({ status: 502 });
  await open(dir, {}).ledger.begin(reveal);
  await clock.sleep(HOUR);
  expect(await ledger.budgets?.()).toMatchObject([{ spent: 0, lost: 60_000, reserved: 0 }]);
  await ledger.begin(reveal);
  await expect(ledger.begin(reveal)).rejects.toMatchObject({ code: 'BUDGET' });
});

test('a call that fits only if calls in flight cost less is rejected, with what they hold', async () => {
  const { ledger } = open(under('held'), { budgetDay: 40_000 });
  const first = await ledger.begin(reveal);
  await expect(ledger.begin(reveal)).rejects.toThrow(
    '; 30,000 CU are reserved for calls in flight; it renews at',
  );
  await first.settle({ status: 200, cu: 100 });
  await ledger.begin(reveal);
});

test('a call of unknown price is not sent under a budget', async () => {
  const { ledger } = open(under('unpriced'), { budgetMonth: 1_000_000 });
  await expect(ledger.begin({ endpoint: 'GET /v2/new', most: undefined })).rejects.toMatchObject({
    code: 'BUDGET',
    hint: 'remove the budget to send the call: trdr budget unset month',
    left: undefined,
  });
});

test.each([['/dev/null/none'], [undefined]])(
  'paid calls fail if the budget cannot be checked (%s)',
  async (dir) => {
    const { ledger } = open(dir, { budgetDay: 1_000_000 });
    const message = expect.stringContaining('check the budget');
    await expect(ledger.begin(reveal)).rejects.toMatchObject({ kind: 'local', message });
  },
);

test('paid calls fail if the ledger cannot be read', async () => {
  const dir = under('unreadable');
  await open(dir, {}).ledger.begin(reveal);
  chmodSync(join(dir, 'ledger', '2026-11-22.ndjson'), 0o200);
  const { ledger } = open(dir, { budgetDay: 1_000_000 });
  await asPlainUser(dir, () =>
    expect(ledger.begin(reveal)).rejects.toMatchObject({ kind: 'local' }),
  );
});

test('damaged lines, foreign entries and older formats do not affect the sums', async () => {
  const dir = under('damaged');
  mkdirSync(join(dir, 'ledger'), { recursive: true });
  const one = entryAt(NOON - HOUR, 500);
  const text = [
    entryText(one),
    entryText({ ...one, time: NOON - 48 * HOUR }),
    entryText({ ...one, profile: 'desk2' }),
    entryText({ ...one, time: 9e15 }),
    '{"end":"unknown","status":200,"cu":7}\nnot json\n{"time":1\n',
  ].join('');
  writeFileSync(join(dir, 'ledger', '2026-11-21.ndjson'), `${text}{"torn`);
  const { ledger } = open(dir, { budgetDay: 10_000, budgetMonth: 10_000 });
  expect(await ledger.budgets?.()).toMatchObject([{ spent: 500 }, { spent: 1_000 }]);
  await (await ledger.begin({ endpoint: 'user.id', most: 200 })).settle({ status: 200, cu: 100 });
  expect(await ledger.budgets?.()).toMatchObject([{ spent: 600 }, { spent: 1_100 }]);
});

test('a file of a past day that is summed up meanwhile, and one that is deleted, keep counting', async () => {
  const dir = under('summed');
  const { ledger, clock } = open(dir, { budgetMonth: 1_300_000 });
  const held = await ledger.begin(reveal);
  const old = join(dir, 'ledger', '2026-11-01.ndjson');
  for (let at = 0; at < 1_200; at++) {
    appendFileSync(old, entryText(entryAt(Date.UTC(2026, 10, 1) + at * 60_000, 1_000)));
  }
  await expect(ledger.begin(beyond)).rejects.toMatchObject({ code: 'BUDGET' });
  const size = statSync(old).size;
  await clock.sleep(24 * HOUR);
  await open(dir, {}, { clock, profile: 'other' }).ledger.begin({ endpoint: 'user.id', most: 200 });
  expect(statSync(old).size).toBeLessThan(size / 4);
  await held.settle({ status: 200, cu: 30_000 });
  expect(await ledger.budgets?.()).toMatchObject([{ spent: 1_230_000, lost: 0 }]);
  rmSync(old);
  expect(await ledger.budgets?.()).toMatchObject([{ spent: 30_000, lost: 1_200_000 }]);
  writeFileSync(old, '');
  await expect(ledger.begin(beyond)).rejects.toMatchObject({ code: 'BUDGET' });
});

test('calls in flight count if the ledger is deleted, and so do their outcomes', async () => {
  const dir = under('deleted');
  const { ledger } = open(dir, { budgetDay: 100_000 });
  const [first, second] = [await ledger.begin(reveal), await ledger.begin(reveal)];
  rmSync(join(dir, 'ledger'), { recursive: true });
  await ledger.begin(reveal);
  await expect(ledger.begin(reveal)).rejects.toMatchObject({ code: 'BUDGET' });
  await first.settle({ status: 200, cu: 100 });
  rmSync(join(dir, 'ledger'), { recursive: true });
  await second.release();
  expect(await ledger.budgets?.()).toMatchObject([{ spent: 0, lost: 0, reserved: 60_000 }]);
});

test('concurrent processes never exceed the budget together, although some of them die', async () => {
  const dir = under('crowd');
  const budget = 6_000;
  const names = some(['lives', 'dies', 'lives', 'lives', 'dies', 'lives'], 3);
  const ends = await Promise.all(
    names.map((name) => worker(['spend', dir, budget, name], { reject: false })),
  );
  const survivors = ends.filter(({ signal }) => signal === undefined);
  expect(survivors.map(({ stdout }) => stdout)).toEqual(survivors.map(() => 'BUDGET'));
  const [sum] = await summarize(readLedger(dir), 'profile');
  expect(sum?.atMost).toBeLessThanOrEqual(budget);
  // What is left is less than one call, unless the day ended meanwhile.
  expect(sum?.atMost).toBeGreaterThan(budget - 30);
});
