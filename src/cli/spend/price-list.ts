import type { AnyEndpoint } from '../../contract/endpoint.ts';
import { endpoints, SOCKET_PATH, SOCKET_PRICE } from '../../contract/endpoints.ts';
import { cu } from '../../contract/prices.ts';
import type { PriceRecord } from '../../contract/records/tool.ts';
import type { AnyCommand } from '../command.ts';

/** The price list. A row states the cost of one call, of one handle in a batch, or of a minute on the WebSocket. */
export function priceList(): PriceRecord[] {
  const rows = Object.entries(endpoints).map(([id, row]) => priceOf(id, row));
  const { socketMinute } = cu;
  return [
    ...rows,
    {
      endpoint: 'ws',
      method: 'GET',
      path: SOCKET_PATH,
      least: socketMinute,
      most: socketMinute,
      price: SOCKET_PRICE,
    },
  ];
}

/** The prices of the calls that a command may make. */
export function callPrices({ calls }: Pick<AnyCommand, 'calls'>): PriceRecord[] {
  const all = priceList();
  return calls.flatMap((id) => all.filter(({ endpoint }) => endpoint === id));
}

/** The price of one call by the endpoint's pricing rule; for a batch endpoint, of a call with one handle. */
function priceOf(id: string, row: AnyEndpoint): PriceRecord {
  const { least, most } = row.price.before({ params: {}, query: {}, body: { handles: ['one'] } });
  return { endpoint: id, method: row.method, path: row.path, least, most, price: row.price.text };
}
