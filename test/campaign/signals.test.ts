import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { compare, idsOf, readText, seedOf, startPosting, until } from '../e2e/feed.ts';
import { type Home, openHome, startTrdr, withSandbox } from '../e2e/harness.ts';
import { ledgerOf } from '../e2e/numbers.ts';
import { type Dice, diceOf } from './hostile-feed.ts';
import { type Delivered, hostileService } from './hostile-service.ts';

// Runs of the program that are ended by random signals at random moments, against a service that takes its time. A few by
// default; CAMPAIGN_RUNS=500 for a long campaign, and SEED runs one again.
const RUNS = Number(process.env['CAMPAIGN_RUNS'] ?? 4);
const FIRST = seedOf();
const SIDE_BY_SIDE = 2;
/** Longer than the time in which two signals count as one. */
const AGAIN_MS = 150;

type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL';

/** Signals for one process, and the moment of the first: so long after so many calls. */
interface Blow {
  readonly signals: readonly Signal[];
  readonly calls: number;
  readonly ms: number;
}

function blowOf(dice: Dice, calls: number): Blow {
  const signal = dice.pick(['SIGINT', 'SIGTERM', 'SIGHUP'] as const);
  const signals = dice.pick([[signal], [signal], [signal, signal], ['SIGKILL']] as const);
  return { signals, calls: 1 + dice.int(calls), ms: dice.int(150) };
}

/** Whether a run that was ended so had the time to deliver all that it paid for. */
const isOrderly = ({ signals }: Blow) => signals.length === 1 && signals[0] !== 'SIGKILL';

/** Runs the program, ends it as `blow` says, and checks how it ended. */
async function struck(
  words: readonly string[],
  options: { readonly sandbox: { readonly url: string; readonly key: string }; readonly home: Home },
  { signals, ms, ...blow }: Blow,
  calls: () => number,
) {
  const child = startTrdr(words, options);
  child.stdin.end();
  let over = false;
  const strike = async () => {
    while (!over && calls() < blow.calls) await delay(2);
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
  return { stdout, stderr };
}

/** What the ledger holds: for certain, and at most. */
function recorded(home: Home): { readonly certain: number; readonly bound: number } {
  let [certain, bound] = [0, 0];
  for (const { cu, cuAtMost = 0 } of ledgerOf(home)) {
    certain += cu;
    bound += cu + cuAtMost;
  }
  return { certain, bound };
}

const names = (dice: Dice, most: number) =>
  Array.from({ length: 1 + dice.int(most) }, (_, at) => `${dice.pick(['trader', 'nobody'])}_${at}`);

/** A lookup, a resolve or numbers, ended by a signal and made again. */
async function paysOnce(seed: number, dice: Dice): Promise<void> {
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
  const blow = blowOf(dice, command === 'pnl' || command === 'export' ? 4 : 12);
  const ran = await struck(words, { sandbox: service, home }, blow, () => service.calls.length);
  const story = `SEED=${seed} ${words.join(' ')} (${subjects.length}), ${JSON.stringify(blow)}\n${ran.stderr}`;
  const atStop = recorded(home);
  expect(atStop.certain, `certain in the ledger: ${story}`).toBeLessThanOrEqual(service.total());
  expect(atStop.bound, `bound in the ledger: ${story}`).toBeGreaterThanOrEqual(service.total());
  // A handle that could not be resolved is searched again by each run.
  const isKept = ({ endpoint, found }: Delivered) => found || endpoint !== 'resolve';
  const paid = new Set(
    service.charged.filter(isKept).map(({ endpoint, subject }) => `${endpoint} ${subject}`),
  );
  if (isOrderly(blow) && command !== 'export') {
    const shown = new Set(linesOf(ran.stdout).map(({ subject }) => subject));
    const kind = command === 'whois' ? 'lookup' : command === 'resolve' ? 'resolve' : 'numbers';
    const due = service.charged.filter(({ endpoint }) => endpoint === kind).map(({ subject }) => subject);
    expect(
      due.filter((subject) => !shown.has(subject)),
      `paid for and not shown: ${story}`,
    ).toEqual([]);
  }

  // A minute later, the service has no call of the first run under way.
  if (existsSync(`${out}.journal`)) utimesSync(`${out}.journal`, new Date(0), new Date(Date.now() - 60_000));
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
  const lost = Number(/(\d+) handles? were in flight when the last run died/.exec(stderr)?.[1] ?? 0);
  if (isOrderly(blow)) expect(again, `paid for twice: ${story}`).toEqual([]);
  else if (command === 'export') expect(again.length, story).toBeLessThanOrEqual(lost);
  expect(recorded(home).bound, story).toBeGreaterThanOrEqual(service.total());
}

/** A tail to a file, ended by a signal and started again. */
async function followsOn(seed: number, dice: Dice): Promise<void> {
  const sandbox = await withSandbox({ faults: 'delay@thesis.all=1ms..100ms', seed });
  const home = openHome();
  const out = join(home.path, 'out.ndjson');
  const posting = startPosting(sandbox, 40);
  const words = [
    'thesis',
    'tail',
    '--out',
    out,
    '--lag',
    '200ms',
    '--yes',
    '--via',
    dice.pick(['ws', 'poll']),
  ];
  if (dice.chance(0.5)) words.push('--checkpoint', join(home.path, 'tail.json'));
  const blow = blowOf(dice, 6);
  const story = `SEED=${seed} ${words.join(' ')}, ${JSON.stringify(blow)}`;
  const { stderr } = await struck(words, { sandbox, home }, blow, () => sandbox.log.length);
  expect(recorded(home).bound, `${story}\n${stderr}`).toBeGreaterThanOrEqual(sandbox.meter().unitsUsed);
  const [first] = idsOf(readText(out));
  const child = startTrdr(words, { sandbox, home });
  child.stdin.end();
  await until(() => idsOf(readText(out)).length > 10);
  posting.stop();
  await until(() => idsOf(readText(out)).includes(posting.ids.at(-1) ?? ''));
  child.kill('SIGTERM');
  await child;
  const ids = idsOf(readText(out));
  const from = first === undefined ? (ids[0] ?? '') : first;
  expect(compare(posting.ids.slice(posting.ids.indexOf(from)), ids), story).toEqual({
    ...{ lost: [], doubled: [], foreign: [] },
  });
  expect(recorded(home).bound, story).toBeGreaterThanOrEqual(sandbox.meter().unitsUsed);
}

const linesOf = (text: string): { readonly subject?: string; readonly found?: boolean | null }[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

test(`${RUNS} runs that signals end lose and repeat nothing that was paid for (SEED=${FIRST})`, {
  timeout: 60_000 + RUNS * 20_000,
}, async () => {
  const runs = Array.from({ length: process.env['SEED'] === undefined ? RUNS : 1 }, (_, at) => FIRST + at);
  const lane = async () => {
    for (let seed = runs.shift(); seed !== undefined; seed = runs.shift()) {
      await (seed % 4 === 0 ? followsOn : paysOnce)(seed, diceOf(seed ^ 0x2545f491));
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane));
});
