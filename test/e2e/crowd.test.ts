import { describe, expect, test } from 'vitest';
import { repeats } from '../repeats.ts';
import { openDesk, type RunOptions, startTrdr } from './harness.ts';

const PROCESSES = repeats('CROWD', 4, 12);

const handles = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `nobody_${from}_${index}`);

/** Starts processes, and returns them when each has ended or waits for the limit. */
async function startCrowd(words: readonly string[], optionsOf: (process: number) => RunOptions) {
  const children = Array.from({ length: PROCESSES }, (_, process) =>
    startTrdr([...words, ...handles(process, 4)], optionsOf(process)),
  );
  const waiting = new Set<number>();
  for (const [process, child] of children.entries()) {
    child.stderr.on('data', (part: Buffer) => {
      if (part.toString().includes('waiting')) waiting.add(process);
    });
    void child.then(() => waiting.add(process));
  }
  await expect.poll(() => waiting.size, { timeout: 60_000 }).toBe(PROCESSES);
  return children;
}

describe('several processes at once', () => {
  test('share one key without exceeding its rate limit', async () => {
    const { sandbox, home, run } = await openDesk({ ratePerMinute: 12 });
    // Its answer states the limit, which all others then know.
    await run('whois nobody');
    const children = await startCrowd(['whois'], () => ({ sandbox, home }));
    // The calls of the minute are used up. A waiting process may have another call in flight.
    await expect.poll(() => sandbox.log.length).toBe(12);
    for (const child of children) child.kill('SIGTERM');
    const ran = await Promise.all(children);
    const { log } = sandbox;
    expect(log.map(({ status }) => status).filter((status) => status === 429)).toEqual([]);
    expect(log.length).toBe(12);
    const answered = log.filter(({ endpoint }) => endpoint === 'user.handle').length;
    const given = ran.flatMap(({ stdout }) => stdout.split('\n').filter((line) => line !== ''));
    expect(given).toHaveLength(answered - 1);
    const usage = await run('usage --by endpoint');
    expect(usage.records()).toMatchObject([{ calls: answered, cu: sandbox.meter().totalUnits }]);
    for (const { exitCode } of ran) expect([143, 3]).toContain(exitCode);
    for (const { stderr } of ran)
      expect(stderr).toMatch(
        /^(trdr: waiting \S+: the key allows 12 requests per minute\n)?(trdr: stopping: .*\n)?(trdr: interrupted: 0 of \d subjects? found, .*\n)?$/,
      );
  });

  test('resolve at most ten handles per minute together, with any keys', async () => {
    const { sandbox, home } = await openDesk();
    const keys = [sandbox.key, sandbox.addKey({})];
    // Ten in a minute, of four for each of the processes.
    const words = ['resolve', '--direct', '--no-wait', '--yes'];
    const children = await startCrowd(words, (process) => ({
      ...{ sandbox, home, key: keys[process % 2] },
    }));
    const resolves = () => sandbox.log.filter(({ endpoint }) => endpoint === 'user.resolve');
    await expect.poll(() => resolves().length).toBe(10);
    expect(resolves().filter(({ status }) => status === 429)).toEqual([]);
    for (const child of children) child.kill('SIGTERM');
    await Promise.all(children);
  });
});
