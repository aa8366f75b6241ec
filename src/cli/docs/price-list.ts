import { endpointIds, SOCKET_PATH, SOCKET_PRICE } from '../../contract/endpoints.ts';
import { cu } from '../../contract/limits.ts';
import type { PriceRecord } from '../../contract/records/tool.ts';
import { endpointRow } from '../../core/client/coding.ts';
import type { AnyCommand } from '../command.ts';

/** A row is one call, one handle in a batch, or a minute on the WebSocket. */
export function priceList(): PriceRecord[] {
  const rows = endpointIds.map((endpoint): PriceRecord => {
    const { method, path, price } = endpointRow(endpoint);
    const { least, most } = price.before({ params: {}, query: {}, body: { handles: ['one'] } });
    return { endpoint, method, path, least, most, price: price.text };
  });
  return [
    ...rows,
    {
      endpoint: 'ws',
      method: 'GET',
      path: SOCKET_PATH,
      least: cu.socketMinute,
      most: cu.socketMinute,
      price: SOCKET_PRICE,
    },
  ];
}

export function callPrices({ calls }: Pick<AnyCommand, 'calls'>): PriceRecord[] {
  const all = priceList();
  return calls.flatMap((id) => all.filter(({ endpoint }) => endpoint === id));
}
