import { usageError } from '../../base/failure.ts';
import { type EndpointId, endpoints } from '../../contract/endpoints.ts';
import { PriceRecord } from '../../contract/records/tool.ts';
import { didYouMean } from '../../output/suggest.ts';
import { priceView } from '../../output/views/price.ts';
import { command } from '../command.ts';
import { callPrices, priceList } from '../spend/plan.ts';

/** The prices of the endpoint with this name or path, otherwise of all that begin with it. */
function pricesFor(name: string | undefined, isCommand: boolean): PriceRecord[] {
  const all = priceList();
  if (name === undefined) return all;
  const exact = all.filter(
    (row) => row.endpoint === name || row.path === name || `${row.method} ${row.path}` === name,
  );
  const found =
    exact.length > 0
      ? exact
      : all.filter((row) => row.endpoint.startsWith(name) || row.path.startsWith(name));
  if (found.length > 0) return found;
  if (isCommand)
    throw usageError(
      `the price list has no calls of "trdr ${name}"`,
      'run "trdr price" to list all endpoints',
    );
  const near = didYouMean(
    name,
    all.map((row) => row.endpoint),
  );
  throw usageError(`unknown command or endpoint "${name}"`, near || 'run "trdr price" to list all endpoints');
}

async function pricesOf(words: string): Promise<PriceRecord[] | undefined> {
  const { tree } = await import('../tree.ts');
  const found = await tree[words]?.();
  return found && callPrices(found);
}

export const price = command({
  path: 'price',
  summary: 'Show the price list in compute units (CU)',
  about: [
    'Shows the minimum and maximum cost of one call; for batches, of one handle. With the name of a command, shows all calls that the command can send; the --dry-run flag of a command shows the calls that the command would send now. Works offline.',
  ],
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
  examples: {
    'trdr price': 'show the whole list',
    'trdr price user.wallet': 'show the price of a wallet lookup',
    'trdr price thesis tail': "show the prices of a command's calls",
  },
  record: () => PriceRecord,
  exits: [0, 2],
  parse: (words) => (words.length === 0 ? undefined : words.join(' ')),
  async run(context, name) {
    const exact = name !== undefined && priceList().some(({ endpoint }) => endpoint === name);
    const ofCommand = name === undefined || exact ? undefined : await pricesOf(name);
    // If no command has this name, or the command sends no calls, search the endpoints.
    const rows = ofCommand && ofCommand.length > 0 ? ofCommand : pricesFor(name, ofCommand !== undefined);
    await context.print(priceView, rows);
  },
});
