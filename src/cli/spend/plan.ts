import { cu, SOCKET_PATH } from '../../contract/endpoints.ts';
import type { PlannedCall } from '../../contract/records/tool.ts';
import { encode } from '../../core/client/coding.ts';
import type { Planned } from '../context.ts';

/** A minute of the socket, as a request. */
const socket = {
  method: 'GET',
  path: SOCKET_PATH,
  body: undefined,
  bounds: { least: cu.socketMinute, most: cu.socketMinute },
};

/** Planned requests as records, each with what it can cost. */
export async function* planOf(
  planned: Iterable<Planned> | AsyncIterable<Planned>,
): AsyncGenerator<PlannedCall> {
  for await (const { id, ask: given, times = 1 } of planned) {
    const repeated = times === 1 ? {} : { times };
    const { method, path, body, bounds } = id === 'ws' ? socket : encode(id, given);
    yield {
      endpoint: id,
      method,
      path,
      ...(body !== undefined && { body: JSON.parse(body) as unknown }),
      ...repeated,
      least: bounds.least,
      most: times === null ? null : bounds.most * times,
    };
  }
}
