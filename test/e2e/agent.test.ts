import { describe, expect, test } from 'vitest';
import { openDesk, wordsOf } from './harness.ts';
import type { InProcessOptions } from './in-process.ts';

const agent: InProcessOptions = { env: { CLAUDECODE: '1' } };
const idsOf = (records: readonly Record<string, unknown>[]) => records.map(({ id }) => id);

describe('a list under an agent', () => {
  test.each([
    ['thesis list', 'thesis list --since 30d'],
    ['launchpad callouts', 'launchpad callouts --since 30d'],
  ])('stops at 200 rows and states the line that continues it: %s', async (_, line) => {
    const { run } = await openDesk({ theses: 450 });
    // Without an agent it is as long as ever.
    const whole = await run(line);
    const all = idsOf(whole.records());
    expect([all.length > 250, whole.stderr]).toEqual([true, '']);
    const first = await run(line, agent);
    expect([first.exitCode, idsOf(first.records())]).toEqual([0, all.slice(0, 200)]);
    const [, next = ''] = /continue with: trdr (.+?); for more/.exec(first.said) ?? [];
    expect(idsOf((await run(wordsOf(next), agent)).records())).toEqual(all.slice(200, 400));
    for (const limit of [['--limit', '300'], ['--all'], ['--out', 'rows.ndjson']]) {
      const more = await run([...line.split(' '), ...limit], agent);
      expect(more.said).not.toContain('because an agent');
      expect(more.records().length).toBe(
        limit[0] === '--out' ? 0 : Math.min(all.length, limit[1] ? 300 : all.length),
      );
    }
  });

  test('takes the best 200 of a range that is sorted, and says of how many', async () => {
    const { run } = await openDesk({ theses: 450 });
    const line = ['thesis', 'list', '--since', '30d', '--sort', 'holdingsUsd'];
    const all = idsOf((await run(line)).records());
    const best = await run(line, agent);
    expect(idsOf(best.records())).toEqual(all.slice(0, 200));
    expect(best.said).toContain(`printed 200 of ${all.length} rows, because an agent reads them`);
  });
});
