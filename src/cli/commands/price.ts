import { usageError } from '../../base/failure.ts';
import { didYouMean } from '../../base/suggest.ts';
import { type EndpointId, endpoints } from '../../contract/endpoints.ts';
import { PriceRecord } from '../../contract/records/tool.ts';
import { priceView } from '../../output/views/price.ts';
import { command } from '../command.ts';
import { callPrices, priceList } from '../docs/price-list.ts';
import page from './price.md';

const LIST = 'run "trdr price" to list all endpoints';

/**
 * The prices of a command's calls, otherwise of the endpoint with this name or path, otherwise of
 * all that begin with it.
 */
async function pricesFor(name: string): Promise<PriceRecord[]> {
  const all = priceList();
  const { tree } = await import('../tree.ts');
  const command = all.some(({ endpoint }) => endpoint === name) ? undefined : await tree[name]?.();
  const paths = ({ endpoint, method, path }: PriceRecord) => [endpoint, path, `${method} ${path}`];
  const matching = [
    command ? callPrices(command) : [],
    all.filter((row) => paths(row).includes(name)),
    all.filter((row) => row.endpoint.startsWith(name) || row.path.startsWith(name)),
  ].find((rows) => rows.length > 0);
  if (matching) return matching;
  if (command) throw usageError(`the price list has no calls of "trdr ${name}"`, LIST);
  const names = all.map((row) => row.endpoint);
  throw usageError(`unknown command or endpoint "${name}"`, didYouMean(name, names) || LIST);
}

export const price = command({
  path: 'price',
  page,
  args: [
    {
      name: 'name',
      help: 'command, or (the beginning of) an endpoint or a path',
      optional: true,
      variadic: true,
      choices: [
        ...(Object.keys(endpoints) as EndpointId[]),
        'ws',
        'whois',
        'resolve',
        'pnl',
        'thesis',
        'launchpad',
      ],
    },
  ],
  common: ['output'],
  record: () => PriceRecord,
  parse: (words) => (words.length === 0 ? undefined : words.join(' ')),
  async run(context, name) {
    await context.out.print(priceView, name === undefined ? priceList() : await pricesFor(name));
  },
});
