import type { HandoffHealth } from './exec/handoff-meter.ts';

/** How a tail currently follows its feed. */
const healthModes = ['streaming', 'connecting', 'polling', 'store', 'standby', 'waiting'] as const;
export type HealthMode = (typeof healthModes)[number];

/** The state of a running tail, for monitoring. Times are epoch milliseconds. */
export interface TailHealth {
  /** The exit code of the run, and why it ended in one word; null while the run is active. */
  readonly end: { readonly exit: number; readonly reason: string } | null;
  /** Whether the tail has been up to date with its feed at least once. */
  readonly ready: boolean;
  /** Whether the service responds. */
  readonly serviceUp: boolean;
  readonly mode: HealthMode;
  /** When the budget or the allowance renews for which the tail waits; null if it does not wait. */
  readonly waitsUntil: number | null;
  /** Which file of the tail cannot be written and why, so that the tail waits; null if it does not wait. */
  readonly blocked: string | null;
  readonly startedAt: number;
  readonly updatedAt: number;
  /** The time of the last iteration of the main loop. If this time does not advance, the loop hangs. */
  readonly progressAt: number;
  /** The post time up to which every post was printed, except in gaps; null before the first verification. */
  readonly verifiedTo: number | null;
  /** The start of the last complete walk; null before the first one. */
  readonly walkedAt: number | null;
  /** The last printed post: its post time, and how much later it was printed. */
  readonly lastPostAt: number | null;
  readonly lastPostLagMs: number | null;
  readonly rows: number;
  readonly filled: number;
  readonly late: number;
  readonly skipped: number;
  readonly gaps: number;
  readonly reconnects: number;
  readonly pages: number;
  /** Posts per second in the feed. */
  readonly rate: number;
  /** The CU that were certainly charged, and the maximum that may have been charged. */
  readonly spent: number;
  readonly spentAtMost: number;
  readonly perMinute: number;
  /** The CU left of the spending limit and of the key's allowance; null if unlimited or not known. */
  readonly limitLeft: number | null;
  readonly allowanceLeft: number | null;
  /** The CU left of each budget. */
  readonly budgets: readonly { readonly period: string; readonly left: number }[];
  /** The handoff to the command of `--exec`; null without one. */
  readonly handoff: HandoffHealth | null;
  readonly memoryBytes: number;
  readonly cpuMs: number;
}

/** Facts about a run that do not change. */
interface TailIdentity {
  /**
   * The name of the tail: the name of its status file without the extension. It distinguishes the tail from
   * others on the same machine.
   */
  readonly tail: string;
  readonly command: string;
  readonly version: string;
}

const PREFIX = 'trdr_tail_';

const escaped = (text: string) =>
  text.replace(/[\\"\n]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`));

type Label = readonly [name: string, value: string];
type Sample = readonly [labels: readonly Label[], value: number];

const labels = (pairs: readonly Label[]) =>
  `{${pairs.map(([name, value]) => `${name}="${escaped(value)}"`).join(',')}}`;

/**
 * The state of a tail as metrics in the text format of Prometheus. Counters are declared under their full name, as
 * the node exporter, promtool and OpenMetrics 2.0 require; Prometheus accepts that too. Every sample has the label
 * `tail`, so that the files of several tails can be in one folder.
 */
export function tailMetrics(health: TailHealth, { tail, command, version }: TailIdentity): string {
  const lines: string[] = [];
  const write = (name: string, help: string, samples: readonly Sample[]) => {
    const known = samples.filter(([, sample]) => Number.isFinite(sample));
    if (known.length === 0) return;
    const type = name.endsWith('_total') ? 'counter' : 'gauge';
    lines.push(`# HELP ${PREFIX}${name} ${help}`, `# TYPE ${PREFIX}${name} ${type}`);
    for (const [pairs, sample] of known)
      lines.push(
        `${PREFIX}${name}${labels([['tail', tail], ...pairs])} ${Math.round(sample * 1_000) / 1_000}`,
      );
  };
  const about = [
    ['command', command],
    ['version', version],
  ] as const;
  write('build_info', 'Command and version of the tail; the value is always 1.', [[about, 1]]);
  for (const [name, help, of] of metrics) {
    const value = of(health);
    if (typeof value === 'number') write(name, help, [[[], value]]);
    else if (value)
      write(
        name,
        help,
        value.values.map(([text, sample]) => [[[value.label, text]], sample]),
      );
  }
  return `${lines.join('\n')}\n# EOF\n`;
}

/** Samples of one metric that differ in the value of a label. */
interface Labelled {
  readonly label: string;
  readonly values: readonly (readonly [value: string, sample: number])[];
}

/** The name without the prefix, the help text, and the value. Null and undefined give no sample. */
type Metric = readonly [
  name: string,
  help: string,
  of: (health: TailHealth) => number | null | undefined | Labelled,
];

const seconds = (ms: number | null) => (ms === null ? null : ms / 1_000);
const age = (at: number | null, { updatedAt }: TailHealth) =>
  at === null ? null : seconds(Math.max(0, updatedAt - at));

/**
 * The metrics of a tail. The names of counters end in `_total`; all others are gauges.
 * @internal Exported for tests.
 */
export const metrics: readonly Metric[] = [
  ['up', 'Whether the tail is running.', ({ end }) => Number(end === null)],
  [
    'exit_code',
    'How the tail ended; the label states why.',
    ({ end }) => end && one('reason', end.reason, end.exit),
  ],
  [
    'ready',
    'Whether the tail has been up to date with its feed at least once.',
    ({ ready }) => Number(ready),
  ],
  ['service_up', 'Whether the service responds.', ({ serviceUp }) => Number(serviceUp)],
  ['mode', 'The mode of the tail: 1 for the current mode, 0 for others.', ({ mode }) => modes(mode)],
  [
    'blocked',
    'Whether the tail waits because it cannot write a file; the label states why.',
    ({ blocked }) => one('reason', blocked ?? '', Number(blocked !== null)),
  ],
  [
    'waits_until_timestamp_seconds',
    'When the budget renews that the tail waits for.',
    (h) => seconds(h.waitsUntil),
  ],
  ['start_timestamp_seconds', 'When the tail was started.', (h) => seconds(h.startedAt)],
  ['update_timestamp_seconds', 'When this file was written.', (h) => seconds(h.updatedAt)],
  ['progress_timestamp_seconds', 'When the main loop last ran.', (h) => seconds(h.progressAt)],
  [
    'verified_timestamp_seconds',
    'Post time up to which every post was delivered, except in gaps.',
    (h) => seconds(h.verifiedTo),
  ],
  ['proof_age_seconds', 'Time since the feed was last verified to be complete.', (h) => age(h.walkedAt, h)],
  ['last_post_timestamp_seconds', 'Post time of the last delivered post.', (h) => seconds(h.lastPostAt)],
  [
    'last_post_lag_seconds',
    'Time between the post time of the last post and its delivery.',
    (h) => seconds(h.lastPostLagMs),
  ],
  ['rows_total', 'Posts delivered.', (h) => h.rows],
  [
    'filled_rows_total',
    'Posts that appeared in a page but were not delivered by the WebSocket.',
    (h) => h.filled,
  ],
  [
    'late_rows_total',
    'Posts that came over the WebSocket after their time had been verified.',
    (h) => h.late,
  ],
  ['skipped_rows_total', 'Posts without an id, which were skipped.', (h) => h.skipped],
  ['gaps_total', 'Stretches of the feed that could not be read.', (h) => h.gaps],
  ['reconnects_total', 'Number of reconnects.', (h) => h.reconnects],
  ['pages_total', 'Pages read.', (h) => h.pages],
  ['feed_posts_per_second', 'Posts per second in the feed, averaged over about two minutes.', (h) => h.rate],
  ['spent_units_total', 'CU that were certainly charged.', (h) => h.spent],
  ['spent_at_most_units', 'Maximum CU that may have been charged.', (h) => h.spentAtMost],
  [
    'cost_per_minute_units',
    'CU per minute in the current mode, including the walks that verify the feed.',
    (h) => h.perMinute,
  ],
  ['limit_left_units', 'CU that the spending limit of this run has left.', (h) => h.limitLeft],
  ['allowance_left_units', "CU left of the key's allowance.", (h) => h.allowanceLeft],
  ['budget_left_units', 'CU left in the budget of the period.', ({ budgets }) => budgetsLeft(budgets)],
  ['handoff_batches_total', 'Batches that the command acknowledged.', ({ handoff }) => handoff?.batches],
  ['handoff_rows_total', 'Posts that the command acknowledged.', ({ handoff }) => handoff?.rows],
  [
    'handoff_retries_total',
    'Retries: all attempts except the first attempt of each batch.',
    ({ handoff }) => handoff?.retries,
  ],
  [
    'handoff_dead_batches_total',
    'Batches moved to the dead-letter file.',
    ({ handoff }) => handoff?.deadBatches,
  ],
  ['handoff_dead_rows_total', 'Posts moved to the dead-letter file.', ({ handoff }) => handoff?.deadRows],
  [
    'handoff_pending_rows',
    'Posts that were read and are not yet acknowledged.',
    ({ handoff }) => handoff?.pendingRows,
  ],
  [
    'handoff_oldest_age_seconds',
    'Age of the oldest post that is not yet acknowledged; 0 if there is none.',
    (h) => h.handoff && age(h.handoff.oldestAt ?? h.updatedAt, h),
  ],
  [
    'handoff_last_exit_code',
    'Exit code of the last attempt; 128 plus the signal number if the command was killed.',
    ({ handoff }) => handoff?.lastExit,
  ],
  ['resident_memory_bytes', 'Resident memory of the process.', (h) => h.memoryBytes],
  ['cpu_seconds_total', 'CPU time of the process.', (h) => seconds(h.cpuMs)],
];

const one = (label: string, value: string, sample: number): Labelled => ({
  label,
  values: [[value, sample]],
});

const modes = (mode: TailHealth['mode']): Labelled => ({
  label: 'mode',
  values: healthModes.map((each) => [each, Number(each === mode)]),
});

const budgetsLeft = (budgets: TailHealth['budgets']): Labelled => ({
  label: 'period',
  values: budgets.map(({ period, left }) => [period, left]),
});
