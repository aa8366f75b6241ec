import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunEnd } from '../../../src/cli/io.ts';
import { feedWords, noteRun } from '../../../src/cli/tail/run-note.ts';
import { readTailRuns } from '../../../src/state/tail-runs.ts';
import { nothingMeasured, type TailFacts } from '../../../src/tail/health.ts';
import { openFolder } from '../../folder.ts';
import { noWait } from '../../no-wait.ts';
import { advanceTime, clockOn, createScheduler } from '../../sim/scheduler.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Half an hour before a UTC midnight. */
const START = Date.UTC(2026, 0, 1, 23, 30);

/** Runs on a virtual clock, all with one state folder. */
function openMachine() {
  const state = openFolder();
  const scheduler = createScheduler();
  const wall = { at: START };
  const clock = clockOn(scheduler, () => wall.at);
  const start = (line: string) => {
    const run = { facts: { ...nothingMeasured, ready: true, mode: 'polling' } as TailFacts };
    const atEnd = new Set<(end: RunEnd) => Promise<void>>();
    const io = { argv: line.split(' '), cwd: '/', clock, atEnd };
    const settings = { folders: { state }, command: 'thesis tail', profile: 'desk' };
    const context = { terminal: { io }, settings, out: { diskWait: noWait } } as never;
    noteRun(context, { feed: 'theses', output: line, facts: () => run.facts });
    return {
      know: (facts: Partial<TailFacts>) => {
        run.facts = { ...run.facts, ...facts };
      },
      end: async (exit = 0, reason = 'done') => {
        for (const notify of atEnd) await notify({ exit, reason });
      },
    };
  };
  return {
    state,
    start,
    advance: (ms: number) => advanceTime(scheduler, ms),
    /** Steps the wall clock alone: in so long a time, a living run saves its state thousands of times. */
    stepClock: (ms: number) => {
      wall.at += ms;
    },
    runs: () => readTailRuns(state, clock.now()),
  };
}

const costs = (cu: number) => ({ spent: { cu, atMost: cu } });

test('counts the posts of the last hour and the cost of the UTC day', async () => {
  const { start, advance, runs } = openMachine();
  const { know, end } = start('a');
  know({ rows: 50, ...costs(300) });
  await advance(11_000);
  expect(runs()).toMatchObject([{ rows: 50, postsPerHour: null, cuToday: 300 }]);
  know({ rows: 110 });
  await advance(10 * MINUTE);
  const [first] = runs();
  expect(first?.postsPerHour).toBeGreaterThan(500);
  know({ ...costs(1000) });
  await advance(15 * MINUTE);
  await advance(10 * MINUTE);
  know(costs(1250));
  await advance(MINUTE);
  expect(runs()).toMatchObject([{ cuToday: 250 }]);
  await advance(HOUR);
  know({ rows: 140 });
  await advance(11_000);
  expect(runs()).toMatchObject([{ rows: 140, postsPerHour: 30 }]);
  await end();
});

test('keeps an ended run for a day, and shows no cost of the day before', async () => {
  const { start, advance, runs } = openMachine();
  const { know, end } = start('a');
  know(costs(300));
  await end(6, 'BUDGET');
  expect(runs()).toMatchObject([{ words: 'failed: BUDGET (exit 6)', cuToday: 300 }]);
  await advance(HOUR);
  expect(runs()).toMatchObject([{ cuToday: 0 }]);
  await advance(24 * HOUR);
  expect(runs()).toEqual([]);
});

test('a run replaces an ended one of its line, and removes old files, but none of a living run', async () => {
  const { state, start, advance, stepClock, runs } = openMachine();
  const ended = start('a');
  ended.know(costs(300));
  await advance(1);
  const old = start('b');
  await advance(1);
  start('b');
  await Promise.all([ended.end(), old.end()]);
  await advance(1_000);
  const again = start('a');
  again.know(costs(200));
  await again.end();
  const lines = runs().map(({ output, state: is, cuToday }) => `${output} ${is} ${cuToday}`);
  expect(lines.sort()).toEqual(['a ended 500', 'b ended 0', 'b polling 0']);
  stepClock(25 * HOUR);
  start('c');
  const files = readdirSync(join(state, 'tails'));
  expect(files.filter((name) => name.endsWith('.json'))).toHaveLength(2);
  await advance(11_000);
  const outputs = runs().map(({ output }) => output);
  expect(outputs.sort()).toEqual(['b', 'c']);
});

test('a run whose folder cannot be written continues', async () => {
  const { state, start, advance, runs } = openMachine();
  writeFileSync(join(state, 'tails'), '');
  const { end } = start('a');
  await advance(MINUTE);
  await end();
  expect(runs()).toEqual([]);
});

describe('a feed in words', () => {
  test.each([
    [feedWords('theses', [], []), 'theses'],
    [feedWords('theses', [], ['SPUD', 'KOALA']), 'theses about SPUD, KOALA'],
    [feedWords('callouts', ['W'], []), 'callouts by W'],
    [feedWords('theses', ['a', 'b', 'c', 'd'], []), 'theses by 4 authors'],
  ])('%s', (words, expected) => expect(words).toBe(expected));
});
