import { healthModes, type TailHealth } from './health.ts';

/** A group of samples with the same metric name, given without the prefix `trdr_tail_` and the suffix `_total`. */
interface Family {
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly unit?: string;
  readonly help: string;
  /** Returns one sample, or one for each value of a label. Null and undefined give none. */
  readonly of: (health: TailHealth) => number | null | undefined | Labelled;
}

interface Labelled {
  readonly label: string;
  readonly values: readonly (readonly [value: string, sample: number])[];
}

const seconds = (ms: number | null) => (ms === null ? null : ms / 1_000);

const flag = (on: boolean) => (on ? 1 : 0);

export const families: readonly Family[] = [
  { name: 'up', type: 'gauge', help: 'Whether the tail is running.', of: ({ up }) => flag(up) },
  {
    name: 'ready',
    type: 'gauge',
    help: 'Whether the tail has been up to date with its feed at least once.',
    of: ({ ready }) => flag(ready),
  },
  {
    name: 'service_up',
    type: 'gauge',
    help: 'Whether the service responds.',
    of: ({ serviceUp }) => flag(serviceUp),
  },
  {
    name: 'mode',
    type: 'gauge',
    help: 'The mode of the tail: 1 for the current mode, 0 for others.',
    of: ({ mode }) => ({ label: 'mode', values: healthModes.map((each) => [each, flag(each === mode)]) }),
  },
  {
    name: 'start_timestamp_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'When the tail was started.',
    of: ({ startedAt }) => seconds(startedAt),
  },
  {
    name: 'update_timestamp_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'When this file was written.',
    of: ({ updatedAt }) => seconds(updatedAt),
  },
  {
    name: 'progress_timestamp_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'When the main loop last ran.',
    of: ({ progressAt }) => seconds(progressAt),
  },
  {
    name: 'verified_timestamp_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'Time up to which every post was delivered, except in gaps.',
    of: ({ verifiedTo }) => seconds(verifiedTo),
  },
  {
    name: 'proof_age_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'Time since the feed was last verified to be complete.',
    of: ({ verifiedTo, updatedAt }) =>
      verifiedTo === null ? null : seconds(Math.max(0, updatedAt - verifiedTo)),
  },
  {
    name: 'last_post_timestamp_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'Post time of the last delivered post.',
    of: ({ lastPostAt }) => seconds(lastPostAt),
  },
  {
    name: 'last_post_lag_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'Time between the post time of the last post and its delivery.',
    of: ({ lastPostLagMs }) => seconds(lastPostLagMs),
  },
  { name: 'rows', type: 'counter', help: 'Posts delivered.', of: ({ rows }) => rows },
  {
    name: 'filled_rows',
    type: 'counter',
    help: 'Posts that appeared in a page but were not delivered by the WebSocket.',
    of: ({ filled }) => filled,
  },
  {
    name: 'late_rows',
    type: 'counter',
    help: 'Posts that appeared late in pages: older than posts that had already been read.',
    of: ({ late }) => late,
  },
  {
    name: 'skipped_rows',
    type: 'counter',
    help: 'Posts without an id, which were skipped.',
    of: ({ skipped }) => skipped,
  },
  {
    name: 'gaps',
    type: 'counter',
    help: 'Stretches of the feed that could not be read.',
    of: ({ gaps }) => gaps,
  },
  {
    name: 'reconnects',
    type: 'counter',
    help: 'Number of reconnects.',
    of: ({ reconnects }) => reconnects,
  },
  { name: 'pages', type: 'counter', help: 'Pages read.', of: ({ pages }) => pages },
  {
    name: 'feed_posts_per_second',
    type: 'gauge',
    help: 'Posts per second in the feed, averaged over about two minutes.',
    of: ({ rate }) => rate,
  },
  {
    name: 'spent_units',
    type: 'counter',
    unit: 'units',
    help: 'CU that were certainly charged.',
    of: ({ spent }) => spent,
  },
  {
    name: 'spent_at_most_units',
    type: 'gauge',
    unit: 'units',
    help: 'Maximum CU that may have been charged.',
    of: ({ spentAtMost }) => spentAtMost,
  },
  {
    name: 'cost_per_minute_units',
    type: 'gauge',
    unit: 'units',
    help: 'CU per minute in the current mode.',
    of: ({ perMinute }) => perMinute,
  },
  {
    name: 'limit_left_units',
    type: 'gauge',
    unit: 'units',
    help: 'CU that the spending limit of this run has left.',
    of: ({ limitLeft }) => limitLeft,
  },
  {
    name: 'allowance_left_units',
    type: 'gauge',
    unit: 'units',
    help: "CU left of the key's allowance.",
    of: ({ allowanceLeft }) => allowanceLeft,
  },
  {
    name: 'budget_left_units',
    type: 'gauge',
    unit: 'units',
    help: 'CU left in the budget of the period.',
    of: ({ budgets }) => ({ label: 'period', values: budgets.map(({ period, left }) => [period, left]) }),
  },
  {
    name: 'handoff_batches',
    type: 'counter',
    help: 'Batches that the command acknowledged.',
    of: ({ handoff }) => handoff?.batches,
  },
  {
    name: 'handoff_rows',
    type: 'counter',
    help: 'Posts that the command acknowledged.',
    of: ({ handoff }) => handoff?.rows,
  },
  {
    name: 'handoff_retries',
    type: 'counter',
    help: 'Retries: all attempts except the first attempt of each batch.',
    of: ({ handoff }) => handoff?.retries,
  },
  {
    name: 'handoff_dead_batches',
    type: 'counter',
    help: 'Batches moved to the dead-letter file.',
    of: ({ handoff }) => handoff?.deadBatches,
  },
  {
    name: 'handoff_dead_rows',
    type: 'counter',
    help: 'Posts moved to the dead-letter file.',
    of: ({ handoff }) => handoff?.deadRows,
  },
  {
    name: 'handoff_pending_rows',
    type: 'gauge',
    help: 'Posts that were read and are not yet acknowledged.',
    of: ({ handoff }) => handoff?.pendingRows,
  },
  {
    name: 'handoff_oldest_age_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'Age of the oldest post that is not yet acknowledged; 0 if there is none.',
    of: ({ handoff, updatedAt }) =>
      handoff && seconds(Math.max(0, updatedAt - (handoff.oldestAt ?? updatedAt))),
  },
  {
    name: 'handoff_last_exit_code',
    type: 'gauge',
    help: 'Exit code of the last attempt; 128 plus the signal number if the command was killed.',
    of: ({ handoff }) => handoff?.lastExit,
  },
  {
    name: 'resident_memory_bytes',
    type: 'gauge',
    unit: 'bytes',
    help: 'Resident memory of the process.',
    of: ({ memoryBytes }) => memoryBytes,
  },
  {
    name: 'cpu_seconds',
    type: 'counter',
    unit: 'seconds',
    help: 'CPU time of the process.',
    of: ({ cpuMs }) => seconds(cpuMs),
  },
];
