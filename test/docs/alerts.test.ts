import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod/mini';
import { metricNames } from '../../src/tail/health.ts';
import { openFolder } from '../folder.ts';
import { isSoak } from '../repeats.ts';
import { has, promtool } from '../tools.ts';
import { readPage } from './pages.ts';

const text = readPage('docs/service.md').blocks.find(({ info }) => info === 'yaml')?.text ?? '';
const File = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
});
const rules = z.parse(File, parse(text)).groups.flatMap((group) => group.rules);

/** Samples, one per minute, of a tail that is well; a test changes some of them. */
const well = {
  up: '1x60',
  ready: '1x60',
  progress_timestamp_seconds: '0+60x60',
  complete_walk_timestamp_seconds: '0+60x60',
  gaps_total: '0x60',
  handoff_dead_rows_total: '0x60',
  handoff_oldest_age_seconds: '0x60',
  'mode{mode="waiting"}': '0x60',
} as const;

/** The alerts that are firing an hour after the first sample. */
const cases: readonly (readonly [
  alert: string,
  what: string,
  samples: Readonly<Record<string, string>>,
])[] = [
  ['', 'a tail that is well', {}],
  ['', 'a tail that was restarted', { 'exit_code{reason="SIGTERM"}': '143x56 stale' }],
  [
    '',
    'a tail that waits for its budget and is not verified',
    { ...waiting('3000'), complete_walk_timestamp_seconds: '0x60' },
  ],
  ['TrdrTailEnded', 'a rejected key', { up: '0x60', 'exit_code{reason="UNAUTHORIZED"}': '4x60' }],
  ['TrdrTailEnded', 'a run that is done', { up: '0x60', 'exit_code{reason="done"}': '0x60' }],
  ['TrdrTailHangs', 'a killed process', { progress_timestamp_seconds: '0+60x55 3300x5' }],
  ['TrdrTailLags', 'a service that is down', { complete_walk_timestamp_seconds: '0x60' }],
  ['TrdrTailLags', 'a command that accepts nothing', { handoff_oldest_age_seconds: '0+60x60' }],
  [
    'TrdrTailLags',
    'a first walk that does not end',
    { ready: '0x60', complete_walk_timestamp_seconds: '_x60' },
  ],
  ['TrdrPostsMissing', 'a gap', { gaps_total: '0x30 1x29' }],
  ['TrdrPostsMissing', 'dead letters', { handoff_dead_rows_total: '0x30 5x29' }],
  ['TrdrTailOutOfUnits', 'a budget that renews in a day', waiting('90000')],
];

function waiting(until: string) {
  return { 'mode{mode="waiting"}': '1x60', waits_until_timestamp_seconds: `${until}x60` };
}

describe('the alerts of docs/service.md', () => {
  test('are five, and use metrics that the status file has', () => {
    expect(rules.map(({ alert }) => alert)).toEqual([
      ...[
        'TrdrTailEnded',
        'TrdrTailHangs',
        'TrdrTailLags',
        'TrdrPostsMissing',
        'TrdrTailOutOfUnits',
      ],
    ]);
    const names = new Set(metricNames);
    const used = [
      text,
      ...cases.flatMap(([, , samples]) => Object.keys(samples).map((name) => `trdr_tail_${name}`)),
    ]
      .flatMap((each) => [...each.matchAll(/trdr_tail_(\w+)/g)])
      .map(([, name = '']) => name);
    expect(used.filter((name) => !names.has(name))).toEqual([]);
    expect(new Set(cases.map(([alert]) => alert))).toEqual(
      new Set(['', ...rules.map(({ alert }) => alert)]),
    );
  });

  const inSoak = isSoak ? test.skipIf(!has('promtool')) : undefined;
  inSoak?.('are valid, and fire when they should', () => {
    const folder = openFolder();
    const path = join(folder, 'rules.yml');
    writeFileSync(path, text);
    const checked = promtool(['check', 'rules', path]);
    expect([checked.status, checked.stderr]).toEqual([0, '']);
    const flaws = cases.flatMap(([alert, what, samples]) => {
      const labels = 'instance="a",tail="theses"';
      const series = Object.entries({ ...well, ...samples }).map(([name, values]) => {
        const [, metric, own] = /^(\w+)(?:\{(.*)\})?$/.exec(name) ?? [];
        return { series: `trdr_tail_${metric}{${labels}${own ? `,${own}` : ''}}`, values };
      });
      const counted = rules.map((rule) => ({
        expr: `count(ALERTS{alertname="${rule.alert}",alertstate="firing"}) or vector(0)`,
        eval_time: '1h',
        exp_samples: [{ labels: '{}', value: rule.alert === alert ? 1 : 0 }],
      }));
      const file = join(folder, 'test.yml');
      const group = { interval: '1m', input_series: series, promql_expr_test: counted };
      writeFileSync(
        file,
        JSON.stringify({ rule_files: [path], evaluation_interval: '1m', tests: [group] }),
      );
      const { status, stdout, stderr } = promtool(['test', 'rules', file]);
      return status === 0 ? [] : [`${what}: ${stdout}${stderr}`];
    });
    expect(flaws).toEqual([]);
  });
});
