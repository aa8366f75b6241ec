import { describe, expect, test } from 'vitest';
import { nothingMeasured, type TailHealth, tailMetrics } from '../../src/tail/health.ts';
import { isSoak } from '../repeats.ts';
import { has, promtool } from '../tools.ts';

const NOW = Date.UTC(2026, 10, 22, 1, 2, 3);
const health: TailHealth = {
  ...{
    ...nothingMeasured,
    end: null,
    blocked: null,
    ready: true,
    mode: 'streaming',
    verified: NOW - 4_321.987,
  },
  ...{ startedAt: NOW - 60_000, updatedAt: NOW, progressAt: NOW - 100, walkedAgoMs: 4_321.987 },
  ...{
    lastPost: { at: NOW - 9_000, lagMs: 456 },
    rows: 12,
    filled: 1,
    late: 2,
    nameless: 3,
    gaps: 4,
  },
  ...{
    reconnects: 5,
    pages: 6,
    rate: 1 / 3,
    spent: { cu: 20_200, atMost: 40_200 },
    perMinute: 20_000,
  },
  ...{ limitLeft: 100, memoryBytes: 7e7, cpuMs: 1_234.5 },
  budgets: [
    { period: 'day', left: 5, renewsAt: 0 },
    { period: 'month', left: 6, renewsAt: 0 },
  ],
};
const handoff = {
  ...{ batches: 7, rows: 650, retries: 8, deadBatches: 1, deadRows: 50 },
  ...{ pendingRows: 9, oldestAt: NOW - 61_500, lastExit: 137 },
};
const identity = { tail: 'a "b"\\c\n}d', command: 'thesis tail', version: '1.0.0' };
const text = tailMetrics(health, identity);
const handing = tailMetrics({ ...health, handoff }, identity);

describe('the status file', () => {
  test('has each value with its labels, whatever the name of the tail is', () => {
    expect(text).toContain('trdr_tail_spent_units_total{tail="a \\"b\\"\\\\c\\n}d"} 20200\n');
    expect(text).toContain(
      'trdr_tail_budget_left_units{tail="a \\"b\\"\\\\c\\n}d",period="day"} 5\n',
    );
    expect(text).toContain('} 0.333\n');
    expect(text).toMatch(/\n# EOF\n$/);
  });

  test('leaves out what is not known, and never writes NaN', () => {
    const unknown = tailMetrics(
      { ...health, verified: null, lastPost: null, rate: Number.NaN, budgets: [] },
      identity,
    );
    expect(unknown).not.toMatch(/NaN|null|_last_post|_verified|_budget|handoff/);
  });

  const inSoak = isSoak ? test.skipIf(!has('promtool')) : undefined;
  inSoak?.('is read by promtool, whose parser is that of the node exporter', () => {
    const ended = tailMetrics(
      { ...health, handoff, end: { exit: 4, reason: 'UNAUTHORIZED' } },
      identity,
    );
    for (const each of [text, handing, ended]) {
      const { status, stdout, stderr } = promtool(['check', 'metrics'], each);
      expect([status, stdout, stderr]).toEqual([0, '', '']);
    }
    // Check that the checker complains about a counter without its own type and help.
    expect(
      promtool(['check', 'metrics'], text.replaceAll(/(# \w+ trdr_tail_rows)_total/g, '$1')).status,
    ).toBe(3);
  });
});
