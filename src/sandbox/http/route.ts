import { quietly } from '../../base/calls.ts';
import { type EndpointId, endpointIds, endpoints } from '../../contract/endpoints.ts';

/** The endpoint of a path. `params` is undefined if a path parameter cannot be decoded. */
export interface Route {
  readonly id: EndpointId;
  readonly params: Readonly<Record<string, string>> | undefined;
}

/**
 * Finds the endpoint of a path. Empty parameters match too, so that their schema rejects them with a message.
 */
export function findRoute(method: string, path: string): Route | undefined {
  const parts = path.split('/');
  for (const id of endpointIds) {
    const segments = endpoints[id].path.split('/');
    const fits =
      segments.length === parts.length && segments.every((each, at) => isParam(each) || each === parts[at]);
    if (fits && endpoints[id].method === method) return { id, params: paramsOf(segments, parts) };
  }
  return undefined;
}

const isParam = (segment: string) => segment.startsWith('{');

const paramsOf = (segments: readonly string[], parts: readonly string[]): Route['params'] =>
  quietly(() =>
    Object.fromEntries(
      segments.flatMap((segment, at) =>
        isParam(segment) ? [[segment.slice(1, -1), decodeURIComponent(parts[at] ?? '')]] : [],
      ),
    ),
  );
