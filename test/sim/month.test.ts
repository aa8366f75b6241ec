import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runMonth } from './month/run.ts';

/** `SIM_DAYS=30` simulates a month; `SEED=n` repeats a run. */
/** `SIM_CALM=1` leaves out all faults and kills: one process, whose memory has to stay flat. */
const calm = process.env['SIM_CALM'] === '1';
const days = Number(process.env['SIM_DAYS'] ?? 0);
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const HOUR = 3_600_000;
const MB = 2 ** 20;

function openFolder(): string {
  // Many small writes are made durable: a file system in memory is faster.
  const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const folder = mkdtempSync(join(parent, 'trdr-month-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test.each([
  ['polls', 'poll', 60_000, { everyMs: days > 0 ? 6 * HOUR : HOUR / 6 }],
  ['streams', 'ws', 10_000, { bytes: days > 0 ? 1_000_000 : 20_000 }],
] as const)(
  'a tail that %s for long, through faults, kills, clock steps and rotation, loses and repeats nothing',
  async (_, via, lagMs, rotate) => {
    const lengthMs = days > 0 ? days * 24 * HOUR : via === 'ws' ? HOUR / 2 : 2 * HOUR;
    const memory: number[] = [];
    const outcome = await runMonth({
      ...{ seed, via, lagMs, rotate, lengthMs, folder: openFolder() },
      troubleMs: calm ? Number.POSITIVE_INFINITY : days > 0 ? 6 * HOUR : lengthMs / 4,
      onTenth: (bytes) => memory.push(Math.round(bytes / MB)),
    });
    const report = `SEED=${seed} ${JSON.stringify({ ...outcome, memory })}`;
    if (days > 0) process.stdout.write(`${via}, ${days} days: ${report}\n`);
    expect(outcome.problems, report).toEqual([]);
    expect(outcome.posts, report).toBeGreaterThan(lengthMs / 1_000 - 200);
    if (!calm) expect(outcome.starts, report).toBeGreaterThan(2);
    expect(outcome.files, report).toBeGreaterThan(2);
  },
  3 * HOUR,
);
