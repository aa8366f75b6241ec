import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunEnd } from '../../../src/cli/io.ts';
import { nothingMeasured, type TailFacts } from '../../../src/tail/health.ts';
import { openServiceManager } from '../../../src/tail/status/notify.ts';
import { watchHealth } from '../../../src/tail/status/watch.ts';
import { openFolder } from '../../folder.ts';
import { noWait } from '../../no-wait.ts';
import { advanceTime, clockOn, createScheduler } from '../../sim/scheduler.ts';
import { readSamples } from '../../status-file.ts';

const facts: TailFacts = { ...nothingMeasured, mode: 'polling' };

/** A run on a virtual clock, with a tail whose loop can be made to hang. */
function openRun(env: Record<string, string> = {}) {
  const folder = openFolder();
  const scheduler = createScheduler();
  const clock = clockOn(scheduler, () => 1_700_000_000_000);
  const advance = (ms: number) => advanceTime(scheduler, ms);
  const notices: string[] = [];
  const sent: string[][] = [];
  const ending = new AbortController();
  const tail = { facts, turns: 0, hangs: false };
  const atEnd = new Set<(end: RunEnd) => Promise<void>>();
  const context = {
    io: { clock, env, atEnd } as never,
    command: 'thesis tail',
    version: '1.0.0',
    notice: (line: string) => void notices.push(line),
    diskWait: noWait,
    signal: ending.signal,
  };
  const manager = openServiceManager(env, context.notice, async (lines) => {
    sent.push([...lines]);
  });
  const watched = {
    facts: () => tail.facts,
    text: () => `${tail.facts.rows} posts`,
    loop: () => ({
      turns: tail.turns,
      wake() {
        if (!tail.hangs) tail.turns++;
      },
    }),
  };
  const watch = (flags: { status?: string; heartbeat?: number }) =>
    watchHealth(context, { status: flags.status, heartbeat: flags.heartbeat }, watched, manager);
  const status = () => readSamples(join(folder, 'a.prom'));
  const end = async (exit = 0, reason = 'done') => {
    for (const report of atEnd) await report({ exit, reason });
  };
  const own = { now: clock.now, advance };
  return { folder, clock: own, notices, sent, ending, tail, watch, status, end };
}

test('a status file ends the run if its first write fails, and only causes a warning if a later write fails', async () => {
  const run = openRun();
  expect(() => run.watch({ status: join(run.folder, 'none', 'a.prom') })).toThrow('a.prom');
  const folder = join(run.folder, 'sub');
  mkdirSync(folder);
  run.watch({ status: join(folder, 'a.prom') });
  rmSync(folder, { recursive: true });
  await run.clock.advance(30_000);
  expect(run.notices).toHaveLength(1);
  expect(run.notices[0]).toMatch(/^warning: .*a\.prom/);
  await run.end();
});

describe('the service manager', () => {
  const env = { NOTIFY_SOCKET: '/none', WATCHDOG_USEC: '30000000' };

  test('receives READY after the first verification, WATCHDOG while the loop runs, and STOPPING once', async () => {
    const run = openRun(env);
    run.watch({});
    await run.clock.advance(25_000);
    expect(run.sent.flat().filter((line) => /READY|WATCHDOG/.test(line))).toEqual([]);
    // A long first walk extends the timeout of the start.
    expect(run.sent.flat().filter((line) => line.startsWith('EXTEND_TIMEOUT_USEC')).length).toBe(2);
    run.tail.facts = { ...facts, ready: true };
    await run.clock.advance(2_000);
    expect(run.sent.at(-1)).toEqual(['READY=1', 'STATUS=0 posts', 'WATCHDOG=1']);
    const before = run.sent.length;
    for (let i = 0; i < 4; i++) await run.clock.advance(15_000);
    expect(run.sent.slice(before)).toEqual(Array(4).fill(['STATUS=0 posts', 'WATCHDOG=1']));
    run.ending.abort(new Error('stop'));
    await run.end();
    expect(run.sent.flat().filter((line) => line === 'STOPPING=1')).toHaveLength(1);
  });

  test('receives READY from a tail that waits for its budget, so that a boot does not wait', async () => {
    const run = openRun(env);
    run.tail.facts = { ...facts, mode: 'waiting' };
    run.watch({});
    await run.clock.advance(2_000);
    expect(run.sent.at(-1)).toEqual(['READY=1', 'STATUS=0 posts', 'WATCHDOG=1']);
    await run.clock.advance(15_000);
    expect(run.sent.at(-1)).toEqual(['STATUS=0 posts', 'WATCHDOG=1']);
    await run.end();
  });

  test('receives nothing while the loop hangs, so that it restarts the tail, and the status file gets old', async () => {
    const run = openRun(env);
    const age = (name: string) =>
      run.clock.now() / 1_000 - Number(run.status()[`${name}_timestamp_seconds`]);
    run.tail.facts = { ...facts, ready: true };
    run.watch({ status: join(run.folder, 'a.prom') });
    for (let i = 0; i < 3; i++) await run.clock.advance(15_000);
    expect([age('update'), age('progress')].every((each) => each < 6)).toBe(true);
    run.tail.hangs = true;
    await run.clock.advance(15_000);
    const before = run.sent.length;
    for (let i = 0; i < 6; i++) await run.clock.advance(15_000);
    expect(run.sent.slice(before)).toEqual([]);
    expect([age('update'), age('progress')].every((each) => each > 50)).toBe(true);
    run.tail.hangs = false;
    for (let i = 0; i < 2; i++) await run.clock.advance(15_000);
    expect(run.sent.at(-1)).toContain('WATCHDOG=1');
    expect(age('update')).toBeLessThan(6);
    await run.end();
  });
});
