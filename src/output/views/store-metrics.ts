import type * as z from 'zod/mini';
import { type MetricFamily, metricsText } from '../../base/metrics.ts';
import type { StoreItem } from '../../contract/records/store.ts';

type Item = z.infer<typeof StoreItem>;

/** The names that a schema lists, without those of further fields. */
type KnownKeys<T> = keyof { [K in keyof T as string extends K ? never : K]: T[K] };

type Metric = readonly [name: string, item: Item['item'], field: KnownKeys<Item>, help: string];

/** To add a metric, add a row for a figure of `StoreItem`, which `store/status.ts` measures. */
const metrics: readonly Metric[] = [
  ['lane_calls', 'lane', 'sent', 'Calls in the last minute.'],
  ['lane_limit', 'lane', 'limit', 'Calls allowed per minute.'],
  ['lane_queued', 'lane', 'queued', 'Calls in the queue.'],
  [
    'lane_blocked_seconds',
    'lane',
    'blockedFor',
    'Time until calls that share this rate limit may be sent again.',
  ],
  ['machine_spent_units', 'machine', 'spent', 'CU spent this month.'],
  ['budget_limit_units', 'budget', 'limit', 'Limit of the budget in CU.'],
  ['budget_spent_units', 'budget', 'spent', 'CU spent in the period.'],
  [
    'budget_lost_units',
    'budget',
    'lost',
    'CU that calls with lost answers may have cost in the period.',
  ],
  ['budget_reserved_units', 'budget', 'reserved', 'CU reserved for calls in flight.'],
  ['feed_posts', 'feed', 'entries', 'Posts of the feed in the store.'],
  ['feed_last_post_age_seconds', 'feed', 'lastPostAgo', 'Time since the last post.'],
  ['feed_lag_seconds', 'feed', 'lag', 'Time since the feed was verified to be complete.'],
  ['feed_spent_units', 'feed', 'spent', 'CU spent by the current leader.'],
];

export function storeMetricsText(items: readonly Item[]): string {
  const leads = items.filter(({ item }) => item === 'feed');
  return metricsText('trdr_store_', [
    { name: 'up', help: 'Whether the store is reachable.', samples: [[[], 1]] },
    {
      name: 'feed_led',
      help: 'Whether a relay leads the feed.',
      samples: leads.map(({ name, leader }) => [[['feed', name]], leader ? 1 : 0]),
    },
    ...metrics.map(([name, item, field, help]) => ({
      name,
      help,
      samples: items.flatMap((one): MetricFamily['samples'] => {
        const figure = one.item === item ? one[field] : undefined;
        if (typeof figure !== 'number') return [];
        return [[[[item, one.name]], name.endsWith('_seconds') ? figure / 1_000 : figure]];
      }),
    })),
  ]);
}
