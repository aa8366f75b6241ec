import type * as z from 'zod/mini';
import { type MetricFamily, metricsText } from '../../base/metrics.ts';
import type { StoreItem } from '../../contract/records/store.ts';

type Item = z.infer<typeof StoreItem>;

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly item: Item['item'];
  readonly field: KnownKeys<Item>;
  /** Whether the figure is converted from milliseconds to seconds. */
  readonly seconds?: boolean;
}

/** The names that a schema lists, without those of further fields. */
type KnownKeys<T> = keyof { [K in keyof T as string extends K ? never : K]: T[K] };

/** To add a metric, add a row for a figure of `StoreItem`, which `store/status.ts` measures. */
const metrics: readonly Metric[] = [
  { name: 'lane_calls', help: 'Calls in the last minute.', item: 'lane', field: 'sent' },
  { name: 'lane_limit', help: 'Calls allowed per minute.', item: 'lane', field: 'limit' },
  { name: 'lane_queued', help: 'Calls in the queue.', item: 'lane', field: 'queued' },
  {
    name: 'lane_blocked_seconds',
    help: 'Time until calls of this lane (a set of calls with one rate limit) may be sent again.',
    item: 'lane',
    field: 'blockedFor',
  },
  { name: 'machine_spent_units', help: 'CU spent this month.', item: 'machine', field: 'spent' },
  { name: 'budget_limit_units', help: 'Limit of the budget in CU.', item: 'budget', field: 'limit' },
  { name: 'budget_spent_units', help: 'CU spent in the period.', item: 'budget', field: 'spent' },
  {
    name: 'budget_lost_units',
    help: 'CU that calls with lost answers may have cost in the period.',
    item: 'budget',
    field: 'lost',
  },
  {
    name: 'budget_reserved_units',
    help: 'CU reserved for calls in flight.',
    item: 'budget',
    field: 'reserved',
  },
  { name: 'feed_posts', help: 'Posts of the feed in the store.', item: 'feed', field: 'entries' },
  {
    name: 'feed_last_post_age_seconds',
    help: 'Time since the last post.',
    item: 'feed',
    field: 'lastPostAgo',
  },
  {
    name: 'feed_lag_seconds',
    help: 'Time since the feed was verified to be complete.',
    item: 'feed',
    field: 'lag',
  },
  { name: 'feed_spent_units', help: 'CU spent by the current leader.', item: 'feed', field: 'spent' },
  { name: 'group_pending', help: 'Posts delivered but not acknowledged.', item: 'group', field: 'pending' },
  { name: 'group_behind', help: 'Posts not delivered yet.', item: 'group', field: 'behind' },
];

/** The status as OpenMetrics text. */
export function storeMetricsText(items: readonly Item[]): string {
  const leads = items.filter(({ item }) => item === 'feed');
  return metricsText('trdr_store_', [
    { name: 'up', help: 'Whether the store is reachable.', samples: [[[], 1]] },
    {
      name: 'feed_led',
      help: 'Whether a relay leads the feed.',
      samples: leads.map(({ name, leader }) => [[['feed', name]], leader ? 1 : 0]),
    },
    ...metrics.map(({ name, help, item, field, seconds }) => ({
      ...{ name, help },
      samples: items.flatMap((one): MetricFamily['samples'] => {
        const figure = one.item === item ? one[field] : undefined;
        if (typeof figure !== 'number') return [];
        return [[[[item, one.name]], seconds ? figure / 1_000 : figure]];
      }),
    })),
  ]);
}
