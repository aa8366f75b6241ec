import { type MetricFamily, type MetricLabels, metricsText } from '../base/metrics.ts';
import type { BudgetLeft } from '../contract/ports/client.ts';
import { type TailMode, tailModes } from '../contract/tail-modes.ts';
import type { HandoffHealth } from './exec/delivery.ts';
import type { TailCost } from './spend/stream-or-poll.ts';

/** The last printed post: its post time, and how much later it was printed. */
export interface LastPost {
  readonly at: number;
  readonly lagMs: number;
}

/** Samples of one metric that differ in the value of a label. */
interface Labelled {
  readonly label: string;
  readonly values: readonly (readonly [value: string, sample: number])[];
}

/** Null and undefined give no sample. */
type Value = number | null | undefined | Labelled;

/** The name without the prefix, the help text, and the value. */
type Metric<T> = readonly [name: string, help: string, of: (value: T, now: number) => Value];

/**
 * Something that is known of a run: its value before the run has begun, and the metrics that are
 * made of it.
 */
interface Fact<T> {
  readonly initial: T;
  readonly metrics: readonly Metric<T>[];
}

const fact = <T>(initial: T, ...metrics: readonly Metric<T>[]): Fact<T> => ({ initial, metrics });
const count = (name: string, help: string) => fact(0, [name, help, (value) => value]);
const optional = (
  name: string,
  help: string,
  of: (value: number | null) => number | null = (value) => value,
) => fact<number | null>(null, [name, help, of]);
const seconds = (ms: number | null) => (ms === null ? null : ms / 1_000);
const one = (label: string, value: string, sample: number): Labelled => ({
  label,
  values: [[value, sample]],
});

/**
 * To add a metric, add a row: the compiler then requires its value. Times are epoch milliseconds.
 */
const facts = {
  ready: fact<boolean>(false, [
    'ready',
    'Whether the tail has been up to date with its feed at least once.',
    Number,
  ]),
  failing: fact<boolean>(false, [
    'service_up',
    'Whether the service responds.',
    (is) => Number(!is),
  ]),
  mode: fact<TailMode>('waiting', [
    'mode',
    'The mode of the tail: 1 for the current mode, 0 for others.',
    (mode) => ({
      label: 'mode',
      values: tailModes.map((value) => [value, Number(value === mode)]),
    }),
  ]),
  waitsUntil: optional(
    'waits_until_timestamp_seconds',
    'When the budget renews that the tail waits for.',
    seconds,
  ),
  verified: optional(
    'verified_timestamp_seconds',
    'Post time up to which every post was delivered, except in gaps.',
    seconds,
  ),
  walkedAgoMs: fact<number | null>(
    null,
    ['proof_age_seconds', 'Time since the feed was last read completely.', seconds],
    [
      'complete_walk_timestamp_seconds',
      'When the feed was last read completely.',
      (ago, now) => ago && (now - ago) / 1_000,
    ],
  ),
  lastPost: fact<LastPost | null>(
    null,
    [
      'last_post_timestamp_seconds',
      'Post time of the last delivered post.',
      (post) => post && post.at / 1_000,
    ],
    [
      'last_post_lag_seconds',
      'Time between the post time of the last post and its delivery.',
      (post) => post && post.lagMs / 1_000,
    ],
  ),
  rows: count('rows_total', 'Posts that passed the filters, with those held back.'),
  filled: count(
    'filled_rows_total',
    'Posts that appeared in a page but were not delivered by the WebSocket.',
  ),
  late: count(
    'late_rows_total',
    'Posts that came over the WebSocket after their time had been verified.',
  ),
  held: count('held_rows_total', 'Posts that a cooldown held back.'),
  nameless: count('skipped_rows_total', 'Posts without an id, which were skipped.'),
  gaps: count('gaps_total', 'Stretches of the feed that could not be read.'),
  reconnects: count('reconnects_total', 'Number of reconnects.'),
  pages: count('pages_total', 'Pages read.'),
  rate: count(
    'feed_posts_per_second',
    'Posts per second in the feed, averaged over about two minutes.',
  ),
  spent: fact<TailCost>(
    { cu: 0, atMost: 0 },
    ['spent_units_total', 'CU that were certainly charged.', ({ cu }) => cu],
    ['spent_at_most_units', 'Maximum CU that may have been charged.', ({ atMost }) => atMost],
  ),
  perMinute: count(
    'cost_per_minute_units',
    'CU per minute in the current mode, including the walks that verify the feed.',
  ),
  limitLeft: optional('limit_left_units', 'CU that the spending limit of this run has left.'),
  allowanceLeft: optional('allowance_left_units', "CU left of the key's allowance."),
  budgets: fact<readonly BudgetLeft[]>(
    [],
    [
      'budget_left_units',
      'CU left in the budget of the period.',
      (budgets) => ({
        label: 'period',
        values: budgets.map(({ period = 'all', left }) => [period, left]),
      }),
    ],
  ),
  handoff: fact<HandoffHealth | null>(
    null,
    [
      'handoff_batches_total',
      'Batches that the command acknowledged.',
      (handoff) => handoff?.batches,
    ],
    ['handoff_rows_total', 'Posts that the command acknowledged.', (handoff) => handoff?.rows],
    [
      'handoff_retries_total',
      'Retries: all attempts except the first attempt of each batch.',
      (handoff) => handoff?.retries,
    ],
    [
      'handoff_dead_batches_total',
      'Batches moved to the dead-letter file.',
      (handoff) => handoff?.deadBatches,
    ],
    [
      'handoff_dead_rows_total',
      'Posts moved to the dead-letter file.',
      (handoff) => handoff?.deadRows,
    ],
    [
      'handoff_pending_rows',
      'Posts that were read and are not yet acknowledged.',
      (handoff) => handoff?.pendingRows,
    ],
    [
      'handoff_oldest_age_seconds',
      'Age of the oldest post that is not yet acknowledged; 0 if there is none.',
      (handoff, now) => handoff && Math.max(0, now - (handoff.oldestAt ?? now)) / 1_000,
    ],
    [
      'handoff_last_exit_code',
      'Exit code of the last attempt; 128 plus the signal number if the command was killed.',
      (handoff) => handoff?.lastExit,
    ],
  ),
};

/** What is known of the process of a run. */
const processFacts = {
  /** The exit code of the run, and why it ended in one word; null while the run is active. */
  end: fact<{ readonly exit: number; readonly reason: string } | null>(
    null,
    ['up', 'Whether the tail is running.', (end) => Number(end === null)],
    [
      'exit_code',
      'How the tail ended; the label states why.',
      (end) => end && one('reason', end.reason, end.exit),
    ],
  ),
  /** Which file of the tail cannot be written and why, so that the tail waits. */
  blocked: fact<string | null>(null, [
    'blocked',
    'Whether the tail waits because it cannot write a file; the label states why.',
    (blocked) => one('reason', blocked ?? '', Number(blocked !== null)),
  ]),
  startedAt: optional('start_timestamp_seconds', 'When the tail was started.', seconds),
  updatedAt: optional('update_timestamp_seconds', 'When this file was written.', seconds),
  /** If this time does not advance, the loop hangs. */
  progressAt: optional('progress_timestamp_seconds', 'When the main loop last ran.', seconds),
  memoryBytes: count('resident_memory_bytes', 'Resident memory of the process.'),
  cpuMs: optional('cpu_seconds_total', 'CPU time of the process.', seconds),
};

type ValuesOf<F> = { readonly [K in keyof F]: F[K] extends Fact<infer T> ? T : never };
export type TailFacts = ValuesOf<typeof facts>;
export type FeederFacts = Omit<TailFacts, 'handoff'>;
export type TailHealth = TailFacts & ValuesOf<typeof processFacts>;

const allFacts: { readonly [K in keyof TailHealth]: Fact<TailHealth[K]> } = {
  ...processFacts,
  ...facts,
};

export const nothingMeasured = Object.fromEntries(
  Object.entries(facts).map(([name, { initial }]) => [name, initial]),
) as unknown as TailFacts;

const factNames = Object.keys(facts) as (keyof TailFacts)[];
const counters = factNames.filter(
  (name): name is keyof FeederFacts =>
    name !== 'handoff' && facts[name].metrics.every(([metric]) => metric.endsWith('_total')),
);

/** The facts of a tail, with the counts of those before it. */
export function addCounts(past: FeederFacts, own: FeederFacts): FeederFacts {
  const sums = counters.flatMap((name) => {
    const [one, other] = [past[name], own[name]];
    return typeof one === 'number' && typeof other === 'number' ? [[name, one + other]] : [];
  });
  const spent = { cu: past.spent.cu + own.spent.cu, atMost: past.spent.atMost + own.spent.atMost };
  return { ...own, ...Object.fromEntries(sums), spent };
}

/** The names of counters end in `_total`; all others are gauges. @internal Exported for tests. */
export const metricNames: readonly string[] = Object.values(allFacts).flatMap(({ metrics }) =>
  metrics.map(([name]) => name),
);

/** Facts about a run that do not change. */
interface TailIdentity {
  /**
   * The name of the status file without its extension: it distinguishes the tails of one machine.
   */
  readonly tail: string;
  readonly command: string;
  readonly version: string;
}

/** Every sample has the label `tail`, so that the files of several tails can be in one folder. */
export function tailMetrics(health: TailHealth, { tail, command, version }: TailIdentity): string {
  const family = (name: string, help: string, value: Value): MetricFamily => {
    const own = ['tail', tail] as const;
    if (typeof value === 'number') return { name, help, samples: [[[own], value]] };
    const { label, values } = value ?? { label: '', values: [] };
    return { name, help, samples: values.map(([text, sample]) => [[own, [label, text]], sample]) };
  };
  const familiesOf = <K extends keyof TailHealth>(name: K): MetricFamily[] =>
    allFacts[name].metrics.map(([metric, help, of]) =>
      family(metric, help, of(health[name], health.updatedAt ?? 0)),
    );
  const about: MetricLabels = [
    ['tail', tail],
    ['command', command],
    ['version', version],
  ];
  const build = 'Command and version of the tail; the value is always 1.';
  const names = Object.keys(allFacts) as (keyof TailHealth)[];
  return metricsText('trdr_tail_', [
    { name: 'build_info', help: build, samples: [[about, 1]] },
    ...names.flatMap((name) => familiesOf(name)),
  ]);
}
