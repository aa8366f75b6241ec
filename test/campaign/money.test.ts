import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { periodsAt } from '../../src/base/periods.ts';
import { virtualClock } from '../core/virtual-clock.ts';
import { type Home, openHome, recordsIn, runInProcess } from '../e2e/harness.ts';
import { receiptOf } from '../e2e/numbers.ts';
import { repeats, seedsOf } from '../repeats.ts';
import { rngOf } from '../sim/rng.ts';
import { startServer } from '../store/server.ts';
import { has } from '../tools.ts';
import { type Delivered, hostileService } from './hostile-service.ts';

// Checks the spending of the program against a service that breaks connections, charges late and reports
// wrong usage. Takes a few seconds by default; CAMPAIGN_RUNS=5000 runs longer, SEED=n repeats one run.
const RUNS = repeats('CAMPAIGN_RUNS', 2, 300);
const CONFIRM_ABOVE = 100_000;
const OUT = 'numbers.ndjson';

/** A command line and its spending limit; null without a limit. */
function planOf(random: () => number): {
  words: string[];
  most: number | null;
  kind: Delivered['endpoint'];
} {
  const upTo = (count: number) => 1 + Math.floor(random() * count);
  const names = (count: number) =>
    Array.from(
      { length: count },
      (_, at) => `${['trader', 'bare', 'nobody'][Math.floor(random() * 3)]}_${at}`,
    );
  const wallets = (count: number) =>
    Array.from({ length: count }, (_, at) => `${'1'.repeat(31)}${at + 2}`);
  const [kind, words] = (
    [
      ['lookup', ['whois', ...names(upTo(30))]],
      ['lookup', ['whois', '--no-cache', ...wallets(upTo(3)), ...names(upTo(5))]],
      ['resolve', ['resolve', '--wait', '20s', ...names(upTo(3))]],
      ['numbers', ['pnl', ...names(upTo(3))]],
      ['numbers', ['pnl', ...names(upTo(250))]],
      ['numbers', ['pnl', ...names(upTo(250)), '--out', OUT]],
    ] as const
  )[Math.floor(random() * 6)] ?? ['lookup', ['whois', 'trader_1']];
  const roll = random();
  if (roll < 0.5) {
    // Choose a limit close to the cost of the run, because other limits would have no effect.
    const each = words.includes('--no-cache') || kind !== 'lookup' ? 20_000 : 150;
    const most = Math.floor(each * words.length * (0.2 + 1.6 * random()));
    return { words: [...words, '--max-cu', String(most), '--yes'], most, kind };
  }
  return roll < 0.75
    ? { words: [...words, '--yes'], most: null, kind }
    : { words: [...words], most: CONFIRM_ABOVE, kind };
}

/** Deletes or replaces a file or folder of a running program. */
function vandalize(home: Home, random: () => number): void {
  const paths = [home.state, home.cache]
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => [
      folder,
      ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) =>
        join(folder, name),
      ),
    ]);
  const path = paths[Math.floor(random() * paths.length)];
  if (path === undefined) return;
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  rmSync(path, { recursive: true, force: true });
  const roll = random();
  if (isFile && roll < 0.6) writeFileSync(path, roll < 0.3 ? '' : '{"version":1}\nodd');
}

test.each(seedsOf(RUNS))(
  'spends within its limit, records all that is charged, and loses no answer (SEED=%i)',
  async (seed) => {
    const random = rngOf(seed).next;
    const clock = virtualClock();
    const home = openHome();
    const vandalism = random() < 0.2 ? 0.3 : 0;
    const service = await hostileService({
      random,
      now: clock.now,
      honest: random() < 0.2 ? 1 : 0.5 + random() * 0.45,
      lagMs: random() < 0.5 ? 0 : 10_000,
      reset: random() < 0.2,
      onCall: async () => {
        if (random() < vandalism) vandalize(home, random);
      },
    });
    const { words, most, kind } = planOf(random);
    const options = { sandbox: service, home, clock, random, differs: true };
    const receipt = ['--receipt', 'receipt.json'];
    const ran = await runInProcess([...words, ...receipt, '-o', 'ndjson'], options);
    const story = `${words.join(' ')}\n${ran.stderr}`;
    expect([0, 2, 3, 6, 7, 8, 9, 11], story).toContain(ran.exitCode);

    const charged = service.total();
    if (most !== null) expect(charged, `the limit is ${most}: ${story}`).toBeLessThanOrEqual(most);

    // The ledger may be among the files that were deleted or replaced.
    if (vandalism === 0) {
      const noted = receiptOf(home);
      const receipt = JSON.parse(home.read('receipt.json'));
      expect(receipt, story).toMatchObject({ ...noted, exit: ran.exitCode });
      expect(noted.cu, `certain in the ledger: ${story}`).toBeLessThanOrEqual(charged);
      expect(noted.cuAtMost, `bound in the ledger: ${story}`).toBeGreaterThanOrEqual(charged);
    }

    const isExport = words.includes(OUT);
    if (isExport && ran.exitCode !== 0) {
      service.heal();
      const more = words.filter((word, at) => word !== '--max-cu' && words[at - 1] !== '--max-cu');
      const again = await runInProcess([...new Set([...more, '--yes', '--resume'])], options);
      expect([0, 3], `${story}\n${again.stderr}`).toContain(again.exitCode);
    }
    const records = isExport ? recordsIn(home.read(OUT)) : ran.records();

    const answered = service.delivered.filter(({ endpoint }) => endpoint === kind);
    const subjects = answered.map(({ subject }) => subject);
    expect(subjects, `answers paid for twice: ${story}`).toEqual([...new Set(subjects)]);
    const shown = new Map(records.map((record) => [String(record['subject']), record['found']]));
    for (const { subject, found } of answered) {
      expect(shown.get(subject), `${subject} was answered: ${story}`).toBe(found);
    }
  },
);

/** The number of runs that share one budget. */
const SHARING = 5;

describe.skipIf(!has('redis-server'))('machines with a shared budget', async () => {
  const server = has('redis-server') ? await startServer() : undefined;

  test.each(seedsOf(Math.ceil(RUNS / 4)))(
    'stay within it, although the store loses everything at any moment, or its entries are damaged (SEED=%i)',
    async (seed) => {
      const random = rngOf(seed).next;
      const admin = await server?.connect();
      await admin?.send('FLUSHALL', []);
      const clock = virtualClock();
      const stories: string[] = [];
      // Nothing is lost before both machines have paid once.
      let calls = Number.NEGATIVE_INFINITY;
      const lossAt = 1 + Math.floor(random() * 40);
      let isLost = false;
      const lose = async () => {
        await admin?.send('FLUSHALL', []);
        isLost = true;
      };
      const service = await hostileService({
        ...{ random, now: clock.now, honest: 0.5 + random() * 0.45, lagMs: 0, reset: false },
        period: periodsAt(Date.now()).month,
        // What is charged after the loss is in no count that could restore the sum.
        without: ['late'],
        onCall: async () => {
          if (++calls === lossAt) await lose();
        },
      });
      /** Replaces a random entry of the store, or one of its fields. */
      const damage = async () => {
        const keys = [(await admin?.send('KEYS', ['*'])) ?? []].flat().map(String).sort();
        const key = keys[Math.floor(random() * keys.length)] ?? '';
        const kind = await admin?.send('TYPE', [key]);
        const [field] = kind === 'hash' ? [await admin?.send('HRANDFIELD', [key])] : [];
        if (typeof field === 'string') await admin?.send('HSET', [key, field, 'odd']);
        else if (kind !== 'none') await admin?.send('SET', [key, 'odd']);
        stories.push(`damaged ${kind} ${key} ${field ?? ''}`);
      };
      const homes = [openHome(), openHome()] as const;
      const options = (at: number) => ({
        ...{ sandbox: service, home: homes[at % 2] ?? homes[0], clock, random, differs: true },
        env: { TRDR_STORE: server?.url, TRDR_MACHINE: `m${at % 2}` },
      });
      const cap = Math.floor(2_000 + random() * 400_000);
      const period = random() < 0.5 ? 'day' : 'month';
      const setBudget = async () => {
        const ran = await runInProcess(['budget', 'set', period, String(cap)], options(0));
        // The version of a store that has lost everything may have been damaged since.
        if (isLost && ran.stderr.includes('STORE_UNFIT')) return;
        expect(ran.exitCode, ran.stderr).toBe(0);
        isLost = false;
      };
      await setBudget();
      // Both machines have paid today, so that they remember the budget, and the count at the start of the day.
      for (const at of [0, 1])
        await runInProcess(['whois', `trader_first_${at}`, '--no-cache'], options(at));
      calls = 0;
      for (let run = 0; run < SHARING; run++) {
        const roll = random();
        if (roll < 0.15) await lose();
        else if (roll < 0.3) await damage();
        const paid = calls;
        const wasLost = isLost;
        const [command = '', ...names] = planOf(random).words;
        const own = names.map((name) =>
          /^(trader|bare|nobody)_/.test(name) ? `${name}_${run}` : name,
        );
        const words = [
          command,
          ...own.filter((word) => !/^(--max-cu|\d+|--out|numbers\.ndjson)$/.test(word)),
          '--yes',
        ];
        const ran = await runInProcess([...new Set(words), '-o', 'ndjson'], options(run));
        stories.push(`${words.join(' ')}\n${ran.stderr}`);
        const story = `cap ${cap}, seed ${seed}: ${stories.join('\n')}`;
        expect([0, 2, 3, 6, 7, 8, 9], story).toContain(ran.exitCode);
        if (wasLost)
          expect([calls - paid, ran.exitCode, ran.stderr], story).toEqual([
            0,
            9,
            expect.stringContaining('STORE_UNFIT'),
          ]);
        expect(service.total(), story).toBeLessThanOrEqual(cap);
        if (isLost && random() < 0.5) await setBudget();
      }
      admin?.close();
    },
  );
});
