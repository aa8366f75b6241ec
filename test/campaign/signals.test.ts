import { existsSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readText } from '../e2e/feed.ts';
import { type Home, openHome, recordsIn, startTrdr } from '../e2e/harness.ts';
import { receiptOf } from '../e2e/numbers.ts';
import { repeats, seedsOf } from '../repeats.ts';
import { type Rng, rngOf } from '../sim/rng.ts';
import { hostileService } from './hostile-service.ts';

// Ends runs of the program by random signals at random times, against a slow service. A few runs by default;
// CAMPAIGN_RUNS=500 runs longer, SEED=n repeats one run.
const RUNS = repeats('CAMPAIGN_RUNS', 4, 300);
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
  const receipt = options.home.at('receipt.json');
  rmSync(receipt, { force: true });
  const before = receiptOf(options.home);
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
  const { calls: asked, cu, cuAtMost } = receiptOf(options.home);
  if (ended === 137) expect(existsSync(receipt)).toBe(false);
  else
    expect(JSON.parse(readText(receipt)), `${signals}: ${stderr}`).toMatchObject({
      ...{ exit: ended, calls: asked - before.calls },
      ...{ cu: cu - before.cu, cuAtMost: cuAtMost - before.cuAtMost },
    });
  return { stdout, stderr };
}

const names = (dice: Rng, most: number) =>
  Array.from({ length: 1 + dice.int(most) }, (_, at) => `${dice.pick(['trader', 'nobody'])}_${at}`);

const commands = ['whois', 'resolve', 'pnl', 'export'] as const;

const title = 'an interrupted run loses nothing and pays for nothing twice (SEED=%i)';
test.each(seedsOf(RUNS))(title, async (seed) => {
  const dice = rngOf(seed);
  const service = await hostileService({
    ...{ random: dice.next, now: Date.now, honest: 1, lagMs: 0, reset: false },
    delayMs: () => dice.int(200),
  });
  const home = openHome();
  const out = home.at('out.ndjson');
  const command = commands[seed % commands.length] ?? 'whois';
  const subjects = names(dice, { whois: 40, resolve: 6, pnl: 350, export: 600 }[command]);
  home.write('list', subjects.join('\n'));
  const isExport = command === 'export';
  const words = [
    ...[isExport ? 'pnl' : command, '--file', 'list', '--yes', '-o', 'ndjson'],
    ...(isExport ? ['--out', out, '--resume'] : []),
  ];
  // An export is killed first, and then ended in any way while it resumes.
  const interruptions = isExport
    ? [{ ...blowOf(dice, 3), signals: ['SIGKILL'] as const }, blowOf(dice, 2), blowOf(dice, 2)]
    : [blowOf(dice, command === 'pnl' ? 4 : 12)];
  let story = `${words.join(' ')} (${subjects.length}), ${JSON.stringify(interruptions)}`;
  let lost = 0;
  const kind = ({ whois: 'lookup', resolve: 'resolve' } as const)[String(command)] ?? 'numbers';
  const charged = () => service.charged.filter(({ endpoint }) => endpoint === kind);
  const heard = (stderr: string) => {
    story += `\n${stderr}`;
    lost += Number(/the last run died with (\d+) handles? in flight/.exec(stderr)?.[1] ?? 0);
  };
  for (const interruption of interruptions) {
    const before = service.calls.length;
    const calls = () => service.calls.length - before;
    const ran = await runInterrupted(words, { sandbox: service, home }, interruption, calls);
    heard(ran.stderr);
    const atStop = receiptOf(home);
    expect(atStop.cu, `certain in the ledger: ${story}`).toBeLessThanOrEqual(service.total());
    expect(atStop.cuAtMost, `bound in the ledger: ${story}`).toBeGreaterThanOrEqual(
      service.total(),
    );
    if (isExport || !isOrderly(interruption)) continue;
    const shown = new Set(recordsIn(ran.stdout).map(({ subject }) => subject));
    const unseen = charged().filter(({ subject }) => !shown.has(subject));
    expect(unseen, `paid for and not shown: ${story}`).toEqual([]);
  }

  const child = startTrdr(words, { sandbox: service, home });
  child.stdin.end();
  const { exitCode, stdout, stderr } = await child;
  heard(stderr);
  expect([0, 3], story).toContain(exitCode);
  const rows = recordsIn(isExport ? home.read('out.ndjson') : stdout);
  expect(rows.map(({ subject }) => subject)).toEqual(subjects);
  expect(rows.filter(({ found }) => found === null)).toEqual([]);
  // A handle that could not be resolved is searched again in each run.
  const kept = charged().filter(({ found }) => found || kind !== 'resolve');
  const twice = kept.length - new Set(kept.map(({ subject }) => subject)).size;
  if (interruptions.every(isOrderly)) expect(twice, `paid for twice: ${story}`).toBe(0);
  else if (isExport) expect(twice, `lost ${lost}: ${story}`).toBeLessThanOrEqual(lost);
  expect(receiptOf(home).cuAtMost, story).toBeGreaterThanOrEqual(service.total());
});
