import { expect, test } from 'vitest';
import { rngOf } from './rng.ts';
import { simulate } from './run.ts';
import { calm, type Schedule } from './schedule.ts';
import type { Process } from './world.ts';

/**
 * A schedule in which pages fail for minutes while the WebSocket loses frames; then the process is killed.
 */
function unverified(seed: number): Schedule {
  const rng = rngOf(seed, 78);
  const killed = 330_000 + rng.next() * 30_000;
  return calm(seed, {
    ...{ resume: 'file', rate: 0.5, busyMs: 400_000 },
    faults: [
      { kind: 'fault', p: 1, from: 40_000, to: killed },
      { kind: 'lose', p: 0.5, from: 45_000, to: 70_000 },
      { kind: 'kill', from: killed, to: killed },
    ],
  });
}

test('resumes exactly after pages have failed for long and the process was killed', async () => {
  const schedules = Array.from({ length: 20 }, (_, seed) => unverified(seed));
  expect(await simulate(schedules)).toEqual([]);
});

test.each(['file', 'checkpoint', 'both'] as const)(
  'a process that resumes from %s and reads no page reports what it did not read, but not as a gap',
  async (resume) => {
    const given = unverified(3);
    const faults = given.faults.flatMap((fault) =>
      fault.kind === 'fault'
        ? { ...fault, to: fault.to + 60_000 }
        : fault.kind === 'lose'
          ? []
          : fault,
    );
    let idle: Process[] = [];
    const failed = await simulate([{ ...given, resume, faults }], undefined, 1, ({ processes }) => {
      idle = processes.filter(
        ({ failure, summary }) => failure !== undefined && summary?.pages === 0,
      );
    });
    expect(failed).toEqual([]);
    expect(idle.length).toBeGreaterThan(0);
    for (const { fresh, summary, notices } of idle) {
      expect(fresh).toBe(false);
      expect(summary?.verified).not.toBeNull();
      expect(summary?.gaps).toEqual([]);
      const unread = notices.filter(({ kind }) => kind === 'gap');
      expect(unread).toMatchObject([{ from: summary?.verified, to: null, open: true }]);
    }
  },
);
