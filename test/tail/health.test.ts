import { describe, expect, test } from 'vitest';
import { nothingMeasured, type TailHealth, tailMetrics } from '../../src/tail/health.ts';
import { hasPromtool, promtool } from './promtool.ts';

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
  ...{ lastPost: { at: NOW - 9_000, lagMs: 456 }, rows: 12, filled: 1, late: 2, nameless: 3, gaps: 4 },
  ...{ reconnects: 5, pages: 6, rate: 1 / 3, spent: { cu: 20_200, atMost: 40_200 }, perMinute: 20_000 },
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

/**
 * The violations of the text format of Prometheus in a text: each family has its help, its type and its samples under
 * one name.
 */
function flawsOf(exposition: string): string[] {
  const flaws: string[] = [];
  const lines = exposition.split('\n');
  if (lines.at(-2) !== '# EOF' || lines.at(-1) !== '') flaws.push('no end');
  const seen = new Set<string>();
  let family = '';
  for (const line of lines.slice(0, -2)) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\w+) (.+)$/.exec(line) ?? [];
    if (kind === 'HELP') family = name;
    if (kind === 'TYPE' && rest !== (name.endsWith('_total') ? 'counter' : 'gauge'))
      flaws.push(`type of ${name}`);
    const sample = /^(\w+)\{((?:\w+="(?:[^"\\\n]|\\["\\n])*",?)+)\} (-?\d+(?:\.\d+)?)$/.exec(line);
    if (kind === undefined && !sample) flaws.push(`line ${line}`);
    if ((sample?.[1] ?? name) !== family) flaws.push(`${line} within ${family}`);
    const once = sample ? line.slice(0, line.lastIndexOf(' ')) : `${kind} ${name}`;
    if (seen.has(once)) flaws.push(`repeated ${line}`);
    seen.add(once);
  }
  return flaws;
}

describe('the status file', () => {
  test('is valid, whatever its name', () => {
    expect([flawsOf(text), flawsOf(handing)]).toEqual([[], []]);
    expect(text).toContain('trdr_tail_spent_units_total{tail="a \\"b\\"\\\\c\\n}d"} 20200\n');
    expect(text).toContain('trdr_tail_budget_left_units{tail="a \\"b\\"\\\\c\\n}d",period="day"} 5\n');
    expect(text).toContain('} 0.333\n');
    // Check that the checker can find an error.
    expect(flawsOf(text.replace('_rows_total', '_rows')).length).toBeGreaterThan(0);
  });

  test('leaves out what is not known, and never writes NaN', () => {
    const unknown = tailMetrics(
      { ...health, verified: null, lastPost: null, rate: Number.NaN, budgets: [] },
      identity,
    );
    expect(flawsOf(unknown)).toEqual([]);
    expect(unknown).not.toMatch(/NaN|null|_last_post|_verified|_budget|handoff/);
  });

  test.skipIf(!hasPromtool())('is read by promtool, whose parser is that of the node exporter', () => {
    const ended = tailMetrics({ ...health, handoff, end: { exit: 4, reason: 'UNAUTHORIZED' } }, identity);
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
