import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { virtualClock } from '../core/virtual-clock.ts';
import { openHome } from './harness.ts';
import { numbers } from './records.ts';
import { type Call, handlesIn, withService } from './service.ts';

/** Answers a batch with the numbers of each handle. */
async function batchOf(call: Call) {
  const handles = await handlesIn(call);
  return { body: { count: handles.length, missing: [], entries: handles.map(numbers) } };
}

test.each([
  [1, 0],
  [5, 0],
  [Number.POSITIVE_INFINITY, 9],
])(
  'an answer that the disk refuses %d times is written again (exit %i)',
  async (refusals, exit) => {
    const home = openHome();
    const journal = home.at('n.ndjson.journal');
    const clock = virtualClock();
    let blocked: string[] = [];
    let waits = 0;
    const service = await withService(async (call) => {
      // The place of the answer becomes a folder, which nobody can write to, not even root.
      blocked = readdirSync(journal).filter((name) => name.endsWith('.room'));
      for (const name of blocked) {
        rmSync(join(journal, name));
        mkdirSync(join(journal, name));
      }
      return await batchOf(call);
    });
    const sleep: typeof clock.sleep = async (ms, signal) => {
      if (blocked.length > 0 && ms === 1_000 && ++waits === refusals)
        for (const name of blocked) rmdirSync(join(journal, name));
      await clock.sleep(ms, signal);
    };
    const words = ['pnl', 'one', 'two', '--out', 'n.ndjson', '--no-cache', '-y'];
    const ran = await home.run(words, {
      ...{ sandbox: service, clock: { ...clock, sleep }, differs: true },
    });
    expect([ran.exitCode, blocked.length], ran.stderr).toEqual([exit, 1]);
    if (exit === 0) {
      const lines = home.read('n.ndjson').trimEnd().split('\n');
      expect(lines.map((line) => JSON.parse(line).subject)).toEqual(['one', 'two']);
      expect([service.calls.length, existsSync(journal)]).toEqual([1, false]);
    }
  },
);

test('Ctrl-C ends a list after the answer that was on its way, although later ones are cached', async () => {
  const home = openHome();
  const interrupt = new AbortController();
  let isStopping = false;
  const service = await withService(async (call) => {
    if (isStopping) interrupt.abort();
    return await batchOf(call);
  });
  const run = (stdin: string) =>
    home.run('pnl - -y -o ndjson', {
      ...{ sandbox: service, differs: true, interrupt: interrupt.signal, stdin },
    });
  expect((await run('kept1\nkept2')).exitCode).toBe(0);
  isStopping = true;
  const handles = Array.from({ length: 130 }, (_, at) => `t${at}`);
  const { exitCode, records } = await run(['kept1', ...handles, 'kept2'].join('\n'));
  expect([exitCode, service.calls.length]).toEqual([130, 2]);
  expect(records().map(({ subject }) => subject)).toEqual(['kept1', ...handles.slice(0, 100)]);
});
