import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { jsonLine } from '../../src/output/format/ndjson.ts';
import { randomOf } from '../../src/sandbox/random.ts';
import { repeats, SEED } from '../repeats.ts';
import { openHome, startTrdr, withoutReading } from './harness.ts';
import { ledgerOf, priceOf, recordsOf, someHandles, withNumbers } from './numbers.ts';

/** The number of kills: `KILLS=500` for a long run, `SEED=n` to repeat one. */
const KILLS = repeats('KILLS', 1, 200);
const HANDLES = someHandles(600);
const FILE = recordsOf(HANDLES)
  .map((record) => `${jsonLine(record)}\n`)
  .join('');

/** The number of handles in the batches that a journal calls lost. */
function lostIn(journal: string): number {
  if (!existsSync(journal)) return 0;
  return readdirSync(journal)
    .filter((name) => /^\d+$/.test(name))
    .map((name) => JSON.parse(readFileSync(join(journal, name), 'utf8').split('\n')[0] ?? ''))
    .reduce((sum, { kind, positions }) => sum + (kind === 'lost' ? positions.length : 0), 0);
}

test(
  `an export killed ${KILLS} times at random pays again only for reported losses (SEED=${SEED})`,
  async () => {
    const random = randomOf(SEED, 'kills');
    const home = openHome();
    const [list, out] = [home.at('list'), home.at('out.ndjson')];
    writeFileSync(list, HANDLES.join('\n'));
    let killed = 0;
    let exports = 0;
    let paidAgain = 0;
    while (killed < KILLS) {
      const sandbox = await withNumbers({
        faults: 'delay@users.pnl=1ms..60ms',
        seed: SEED + exports++,
      });
      rmSync(out, { force: true });
      rmSync(home.state, { recursive: true, force: true });
      let noted = 0;
      let reportedLost = 0;
      for (let exitCode: number | undefined; exitCode !== 0; ) {
        const child = startTrdr(['pnl', '--file', list, '--out', out, '--resume', '-y'], {
          sandbox,
          home,
        });
        const dies = killed < KILLS;
        const timer = new AbortController();
        if (dies) {
          // Kill at any time from before the first request until after the last one, also on a slow machine.
          void delay(random() * 900, undefined, { signal: timer.signal }).then(
            () => child.kill('SIGKILL'),
            () => {},
          );
        }
        const ended = await child;
        timer.abort();
        exitCode = ended.exitCode;
        if (ended.signal === 'SIGKILL') {
          killed++;
          // Resume, unless the file is complete.
          if (existsSync(`${out}.journal`) || !existsSync(out)) {
            noted = lostIn(`${out}.journal`);
            continue;
          }
          exitCode = 0;
        }
        expect(exitCode, ended.stderr).toBe(0);
        reportedLost =
          noted +
          Number(/the last run died with (\d+) handles? in flight/.exec(ended.stderr)?.[1] ?? 0);
      }
      expect(
        withoutReading(readFileSync(out, 'utf8')) === FILE,
        'the file equals that of an undisturbed run',
      ).toBe(true);
      expect(existsSync(`${out}.journal`)).toBe(false);
      const again = [...sandbox.served.values()].reduce((sum, times) => sum + times - 1, 0);
      expect(again, 'handles paid for twice were reported as lost').toBeLessThanOrEqual(
        reportedLost,
      );
      const twice = [...sandbox.served].flatMap(([handle, times]) =>
        Array<string>(times - 1).fill(handle),
      );
      const { totalUnits: unitsUsed } = sandbox.meter();
      expect(unitsUsed).toBe(priceOf(HANDLES) + priceOf(twice));
      const ledger = ledgerOf(home).reduce((sum, { cu, cuAtMost = 0 }) => sum + cu + cuAtMost, 0);
      expect(
        ledger,
        'the ledger contains everything that the meter counted',
      ).toBeGreaterThanOrEqual(unitsUsed);
      paidAgain += again;
    }
    // At most one batch per kill can be in flight.
    expect(paidAgain).toBeLessThanOrEqual(killed * 100);
  },
  60_000 + KILLS * 6_000,
);
