import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import {
  type CommandLine,
  openHome,
  recordsIn,
  type runInProcess,
  withoutReading,
  wordsOf,
} from './harness.ts';
import { priceOf, recordsOf, someHandles, withNumbers } from './numbers.ts';

const MINUTE = 60_000;
/** A user whose runs share a home and a manual clock. */
async function userWithClock(options: Parameters<typeof withNumbers>[0] = {}) {
  const sandbox = await withNumbers(options);
  const home = openHome();
  let passed = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + passed };
  const wait = (ms: number) => {
    passed += ms;
  };
  const run = (words: CommandLine, more: Parameters<typeof runInProcess>[1] = {}) =>
    home.run(['pnl', ...wordsOf(words)], { sandbox, clock, ...more });
  const paid = () => sandbox.meter().totalUnits;
  return { sandbox, home, wait, run, paid };
}

describe('cached numbers', () => {
  test('need no service at all if every handle has an answer', async () => {
    const { run, sandbox } = await userWithClock();
    const handles = someHandles(30);
    const input = { stdin: handles.join('\n') };
    await run('- -y', input);
    await sandbox.close();
    const { exitCode, stderr, records } = await run('-', input);
    expect([exitCode, stderr, records()]).toEqual([0, '', recordsOf(handles)]);
  });

  test.each([
    ['mira', 9, [], 0],
    ['mira', 11, [], 30_000],
    ['mira', 30, ['--max-age', '1h'], 0],
    ['mira', 30, ['--max-age', '1m'], 30_000],
    ['mira', 0, ['--no-cache'], 30_000],
    ['mira', 0, ['--max-age', '0'], 30_000],
    ['nobody1', 4, [], 0],
    ['nobody1', 5, [], 200],
  ])('of %s cost, after %i minutes and with %j, %i CU', async (handle, minutes, flags, cost) => {
    const { wait, run, paid } = await userWithClock();
    const first = await run([handle]);
    const before = paid();
    wait(minutes * MINUTE);
    const again = await run([handle, ...flags]);
    expect(withoutReading(again.stdout)).toBe(withoutReading(first.stdout));
    expect(paid() - before).toBe(cost);
  });

  test('reduce the estimate, and what a dry run shows', async () => {
    const { run } = await userWithClock();
    const handles = someHandles(9);
    await run([...handles.slice(0, 8), '-y']);
    const plan = await run([...handles, '--dry-run']);
    expect(plan.records().map(({ body, most }) => [body, most])).toEqual([
      [{ handles: handles.slice(8) }, 30_000],
      [{ handles: handles.slice(0, 8) }, 0],
    ]);
    expect((await run(handles)).exitCode).toBe(0);
    const free = await run([...handles, '--dry-run']);
    expect(free.records()).toMatchObject([{ body: { handles }, times: 0, least: 0, most: 0 }]);
  });

  test('are given in the order of the handles, also after the units have run out', async () => {
    const { run, sandbox } = await userWithClock({ monthlyUnits: 5 * 30_000 });
    const handles = someHandles(8);
    await run([...handles.slice(5, 8), '-y']);
    const { exitCode, records, stderr } = await run([...handles, '-y']);
    expect(exitCode).toBe(6);
    expect(records()).toEqual(recordsOf([...handles.slice(0, 2), ...handles.slice(5, 8)]));
    expect(stderr).toContain('3 handles');
    expect(sandbox.meter().totalUnits).toBe(150_000);
  });

  test('complete an export, which is then the same as without them', async () => {
    const { run, home, paid } = await userWithClock();
    const handles = someHandles(230);
    const input = { stdin: handles.join('\n') };
    const part = handles.filter((_, at) => at % 3 === 0);
    await run('- -y', { stdin: part.join('\n') });
    const out = home.at('out.ndjson');
    expect((await run(['-', '-y', '--out', out], input)).exitCode).toBe(0);
    const lines = recordsIn(withoutReading(readFileSync(out, 'utf8')));
    expect(lines).toEqual(recordsOf(handles));
    expect([paid(), existsSync(`${out}.journal`)]).toEqual([priceOf(handles), false]);
  });

  test('are saved before a reader or the disk can lose them', async () => {
    const { run, paid } = await userWithClock();
    const failed = await run('mira solwolf -o csv --out /dev/full');
    expect(failed.exitCode).toBe(9);
    expect((await run('mira solwolf')).records()).toEqual(recordsOf(['mira', 'solwolf']));
    expect(paid()).toBe(60_000);
  });
});
