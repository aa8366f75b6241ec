import { duration } from '../../base/time-values.ts';
import { oneOf } from '../../base/values.ts';
import { StoreItem } from '../../contract/records/store.ts';
import { storeView } from '../../output/views/store.ts';
import { outputFormats } from '../../state/config/settings-table.ts';
import { value } from '../args/option.ts';
import { command } from '../command.ts';

export const storeStatus = command({
  path: 'store status',
  summary: 'Show the machines, rate limits, budgets, feeds and groups of a store',
  about: [
    'Prints one line for each machine, lane (the calls that share a rate limit), budget, feed and group. In JSON, NDJSON, CSV and TSV, times and durations are in milliseconds; "-o metrics" prints OpenMetrics text.',
    '--max-lag is for probes: the command exits 9 if a feed has no leader or was not verified for that long. It also exits 9 if the store is unreachable.',
  ],
  args: [],
  options: {
    maxLag: value('--max-lag', 'exit 9 if a feed was last verified longer ago than this', duration),
    output: value(
      '-o, --output',
      'output format',
      oneOf(...outputFormats, 'metrics'),
      'table on a terminal, otherwise ndjson',
    ),
  },
  common: ['output'],
  examples: [
    { run: 'trdr store status', does: 'show leaders, spending and queues' },
    { run: 'trdr store status --max-lag 60s -q > /dev/null', does: 'use the exit code as a probe' },
    {
      run: 'trdr store status -o metrics > /var/lib/node_exporter/trdr.prom',
      does: 'write a file for the Prometheus node exporter',
    },
  ],
  calls: [],
  record: () => StoreItem,
  exits: [0, 2, 4, 9],
  parse: (_, given) => given,
  async run(context, { maxLag, output }) {
    const { needStore } = await import('../store/need-store.ts');
    const { readStatus } = await import('../../store/status.ts');
    const { keys, link } = await needStore(context);
    const items = await link.use((store) => readStatus(store, keys));
    if (output === 'metrics') {
      const { storeMetricsText } = await import('../../output/views/store-metrics.ts');
      await context.printText(storeMetricsText(items));
    } else await context.print(storeView, items);
    const failure =
      maxLag === undefined ? undefined : (await import('../store/feed-lag.ts')).feedLagFailure(items, maxLag);
    if (failure) throw failure;
    return 0;
  },
});
