import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { compare, idsOf, readText, startPosting, until } from '../e2e/feed.ts';
import { type Home, openHome, startTrdr, withSandbox } from '../e2e/harness.ts';
import { ledgerOf, receiptOf } from '../e2e/numbers.ts';
import { repeats, SEED, timeoutFor } from '../repeats.ts';
import { type Rng, rngOf } from '../sim/rng.ts';
import { type Delivered, hostileService } from './hostile-service.ts';
import { runSideBySide } from './lanes.ts';

// Ends runs of the program by random signals at random times, against a slow service. A few runs by default;
// CAMPAIGN_RUNS=500 runs longer, SEED=n repeats one run.
const RUNS = repeats('CAMPAIGN_RUNS', 1, 100);
const FIRST = SEED;
const SIDE_BY_SIDE = 2;
/** Longer than the time within which two signals count as one. */
const AGAIN_MS = 150;

type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL';

/** The signals for one process. The first one is sent some time after a given number of calls. */
interface Interruption {
  readonly signals: readonly Signal[];
  readonly calls: number;
  readonly ms: number;
}

function blowOf(dice: Rng, calls: number): Interruption {
  const signal = dice.pick(['SIGINT', 'SIGTERM', 'SIGHUP'] as const);
  const signals = dice.pick([[signal], [signal], [signal, signal], ['SIGKILL']] as const);
  return { signals, calls: 1 + dice.int(calls), ms: dice.int(150) };
}

/** Whether an interrupted run can deliver everything that it paid for. */
const isOrderly = ({ signals }: Interruption) => signals.length === 1 && signals[0] !== 'SIGKILL';

/** Runs the program, interrupts it, and checks how it ended. */
async function runInterrupted(
  words: readonly string[],
  options: {
    readonly sandbox: { readonly url: string; readonly key: string };
    readonly home: Home;
  },
  { signals, ms, ...interruption }: Interruption,
  calls: () => number,
) {
  const receipt = join(options.home.path, 'receipt.json');
  const child = startTrdr([...words, '--receipt', receipt], options);
  child.stdin.end();
  let over = false;
  const strike = async () => {
    while (!over && calls() < interruption.calls) await delay(2);
    await delay(ms);
    for (const signal of signals) {
      if (over) return;
      child.kill(signal);
      await delay(AGAIN_MS);
    }
  };
  const striking = strike();
  const { exitCode, signal, stdout, stderr } = await child;
  over = true;
  await striking;
  const ended = signal === undefined ? exitCode : 128 + constants.signals[signal];
  const [first = 'SIGINT'] = signals;
  expect([0, 3, 128 + constants.signals[first]], stderr).toContain(ended);
  if (ended === 137) expect(existsSync(receipt)).toBe(false);
  else
    expect(JSON.parse(readText(receipt)), `${signals}: ${stderr}`).toMatchObject({
      ...receiptOf(options.home),
      exit: ended,
    });
  return { stdout, stderr };
}

/** The CU in the ledger: certain, and at most. */
function recorded(home: Home): { readonly certain: number; readonly bound: number } {
  let [certain, bound] = [0, 0];
  for (const { cu, cuAtMost = 0 } of ledgerOf(home)) {
    certain += cu;
    bound += cu + cuAtMost;
  }
  return { certain, bound };
}

const names = (dice: Rng, most: number) =>
  Array.from({ length: 1 + dice.int(most) }, (_, at) => `${dice.pick(['trader', 'nobody'])}_${at}`);

/** Interrupts a lookup, a resolve or numbers, and repeats the run. */
async function checkPayments(seed: number, dice: Rng): Promise<void> {
  const service = await hostileService({
    ...{ random: dice.next, now: Date.now, honest: 1, lagMs: 0, reset: false },
    delayMs: () => dice.int(200),
  });
  const home = openHome();
  const out = join(home.path, 'out.ndjson');
  const command = dice.pick(['whois', 'resolve', 'pnl', 'export'] as const);
  const subjects = names(dice, command === 'resolve' ? 6 : command === 'whois' ? 40 : 350);
  writeFileSync(join(home.path, 'list'), subjects.join('\n'));
  const words = [
    ...[command === 'export' ? 'pnl' : command, '--file', 'list', '--yes', '-o', 'ndjson'],
    ...(command === 'export' ? ['--out', out, '--resume'] : []),
  ];
  const interruption = blowOf(dice, command === 'pnl' || command === 'export' ? 4 : 12);
  const ran = await runInterrupted(
    words,
    { sandbox: service, home },
    interruption,
    () => service.calls.length,
  );
  const story = `SEED=${seed} ${words.join(' ')} (${subjects.length}), ${JSON.stringify(interruption)}\n${ran.stderr}`;
  const atStop = recorded(home);
  expect(atStop.certain, `certain in the ledger: ${story}`).toBeLessThanOrEqual(service.total());
  expect(atStop.bound, `bound in the ledger: ${story}`).toBeGreaterThanOrEqual(service.total());
  // A handle that could not be resolved is searched again in each run.
  const isKept = ({ endpoint, found }: Delivered) => found || endpoint !== 'resolve';
  const paid = new Set(
    service.charged.filter(isKept).map(({ endpoint, subject }) => `${endpoint} ${subject}`),
  );
  if (isOrderly(interruption) && command !== 'export') {
    const shown = new Set(linesOf(ran.stdout).map(({ subject }) => subject));
    const kind = command === 'whois' ? 'lookup' : command === 'resolve' ? 'resolve' : 'numbers';
    const due = service.charged
      .filter(({ endpoint }) => endpoint === kind)
      .map(({ subject }) => subject);
    expect(
      due.filter((subject) => !shown.has(subject)),
      `paid for and not shown: ${story}`,
    ).toEqual([]);
  }

  const before = service.charged.length;
  const child = startTrdr(words, { sandbox: service, home });
  child.stdin.end();
  const { exitCode, stdout, stderr } = await child;
  expect([0, 3], `${story}${stderr}`).toContain(exitCode);
  const rows = linesOf(command === 'export' ? readFileSync(out, 'utf8') : stdout);
  expect(rows.map(({ subject }) => subject)).toEqual(subjects);
  expect(rows.filter(({ found }) => found === null)).toEqual([]);
  const again = service.charged
    .slice(before)
    .filter(({ endpoint, subject }) => paid.has(`${endpoint} ${subject}`));
  const lost = Number(/the last run died with (\d+) handles? in flight/.exec(stderr)?.[1] ?? 0);
  if (isOrderly(interruption)) expect(again, `paid for twice: ${story}`).toEqual([]);
  else if (command === 'export') expect(again.length, story).toBeLessThanOrEqual(lost);
  expect(recorded(home).bound, story).toBeGreaterThanOrEqual(service.total());
}

/** Interrupts a tail to a file, and starts it again. */
async function checkTail(seed: number, dice: Rng): Promise<void> {
  const sandbox = await withSandbox({ faults: 'delay@thesis.all=1ms..100ms', seed });
  const home = openHome();
  const out = join(home.path, 'out.ndjson');
  const posting = startPosting(sandbox, 40);
  const via = dice.pick(['ws', 'poll']);
  const words = `thesis tail --out ${out} --lag 200ms --yes --via ${via}`.split(' ');
  if (dice.chance(0.5)) words.push('--checkpoint', join(home.path, 'tail.json'));
  const interruption = blowOf(dice, 6);
  const story = `SEED=${seed} ${words.join(' ')}, ${JSON.stringify(interruption)}`;
  const { stderr } = await runInterrupted(
    words,
    { sandbox, home },
    interruption,
    () => sandbox.log.length,
  );
  expect(recorded(home).bound, `${story}\n${stderr}`).toBeGreaterThanOrEqual(
    sandbox.meter().totalUnits,
  );
  const child = startTrdr(words, { sandbox, home });
  child.stdin.end();
  await until(() => idsOf(readText(out)).length > 10);
  posting.stop();
  await until(() => idsOf(readText(out)).includes(posting.ids.at(-1) ?? ''));
  child.kill('SIGTERM');
  await child;
  const ids = idsOf(readText(out));
  // The first line need not be the oldest post: frames come before the walk that follows the subscription.
  const from = Math.min(...ids.map((id) => posting.ids.indexOf(id)));
  expect(compare(posting.ids.slice(from), ids), story).toEqual({
    ...{ lost: [], doubled: [], foreign: [] },
  });
  expect(recorded(home).bound, story).toBeGreaterThanOrEqual(sandbox.meter().totalUnits);
}

const linesOf = (text: string): { readonly subject?: string; readonly found?: boolean | null }[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

test(
  `${RUNS} interrupted runs lose nothing and pay for nothing twice (SEED=${FIRST})`,
  timeoutFor(RUNS),
  () =>
    runSideBySide([FIRST, RUNS], SIDE_BY_SIDE, (seed) =>
      (seed % 4 === 0 ? checkTail : checkPayments)(seed, rngOf(seed ^ 0x2545f491)),
    ),
);
