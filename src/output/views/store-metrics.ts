/** A row of `store status`. */
interface Item {
  readonly item: string;
  readonly name: string;
  readonly [figure: string]: string | number | null | undefined;
}

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly item: string;
  readonly field: string;
  /** Whether the figure is converted from milliseconds to seconds. */
  readonly seconds?: boolean;
}

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

const label = (text: string) => text.replace(/[\\"\n]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`));

/** The status as OpenMetrics text. */
export function storeMetricsText(items: readonly Item[]): string {
  const lines: string[] = [
    '# TYPE trdr_store_up gauge',
    '# HELP trdr_store_up Whether the store is reachable.',
    'trdr_store_up 1',
  ];
  const leads = items.filter(({ item }) => item === 'feed');
  lines.push(
    '# TYPE trdr_store_feed_led gauge',
    '# HELP trdr_store_feed_led Whether a relay leads the feed.',
  );
  for (const feed of leads)
    lines.push(`trdr_store_feed_led{feed="${label(feed.name)}"} ${feed['leader'] ? 1 : 0}`);
  for (const { name, help, item, field, seconds } of metrics) {
    const samples = items.flatMap((one) => {
      const figure = one.item === item ? one[field] : undefined;
      if (typeof figure !== 'number') return [];
      return [`trdr_store_${name}{${item}="${label(one.name)}"} ${seconds ? figure / 1000 : figure}`];
    });
    if (samples.length === 0) continue;
    lines.push(`# TYPE trdr_store_${name} gauge`, `# HELP trdr_store_${name} ${help}`, ...samples);
  }
  return `${[...lines, '# EOF'].join('\n')}\n`;
}
