import type { PriceBounds } from '../../contract/endpoint.ts';
import { cu } from '../../contract/prices.ts';
import { endpointRow } from '../../core/client/coding.ts';
import type { Planned } from '../context.ts';

/** The price of a minute of the WebSocket. */
export const SOCKET_MINUTE: PriceBounds = { least: cu.socketMinute, most: cu.socketMinute, reveals: 0 };

/** What a run may cost; `most` and `reveals` are null if the number of its calls is not known. */
interface Total {
  readonly least: number;
  readonly most: number | null;
  readonly reveals: number | null;
}

export const plus = (one: number | null, other: number | null) =>
  one === null || other === null ? null : one + other;

/** What planned requests may cost together. Their parameters are not checked. */
export function totalOf(planned: Iterable<Planned>): Total {
  let total: Total = { least: 0, most: 0, reveals: 0 };
  for (const one of planned) {
    const request = { params: {}, query: {}, body: undefined, ...one.ask };
    const bounds = one.id === 'ws' ? SOCKET_MINUTE : endpointRow(one.id).price.before(request);
    const { least, most, reveals } = costOf(one, bounds);
    total = {
      least: total.least + least,
      most: plus(total.most, most),
      reveals: plus(total.reveals, reveals),
    };
  }
  return total;
}

/** What all calls of a planned request may cost. */
export function costOf(
  { times = 1, perMinute, isSure = true, ...cost }: Planned,
  bounds: PriceBounds,
): Total {
  const count = perMinute ?? times;
  return {
    least: cost.least ?? (isSure ? bounds.least * (perMinute ?? 1) : 0),
    most: cost.most ?? (count === null ? null : bounds.most * count),
    reveals: count === null ? null : bounds.reveals * count,
  };
}
