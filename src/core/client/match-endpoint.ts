import * as z from 'zod/mini';
import { usageError } from '../../base/failure.ts';
import { type EndpointId, endpointIds, OPENAPI_PATH } from '../../contract/endpoints.ts';
import type { RequestParts } from '../../contract/ports.ts';
import { type Encoded, encode, endpointRow } from './coding.ts';

/** Finds the endpoint that a raw request calls; undefined where none is sure to be meant. */
export function matchEndpoint(method: string, path: string, body: string | undefined): Encoded | undefined {
  // The first question mark alone parts the two: a further one stands within the query.
  const [, pathname = '', search = ''] = /^([^?]*)\??(.*)$/.exec(path) ?? [];
  const segments = pathname.split('/');
  for (const id of endpointIds) {
    const row = endpointRow(id);
    if (row.method !== method) continue;
    const params = readSegments(row.path.split('/'), segments);
    if (!params) continue;
    try {
      // A body where none is asked for is passed over by the service, which charges all the same.
      const read = z.safeParse(row.body, undefined).success ? undefined : body;
      return encodeLoose(id, params, search, read);
    } catch {
      // Not a request that this endpoint would serve as it stands: its price is not known.
      return undefined;
    }
  }
  return undefined;
}

/** Whether a raw path is known to cost nothing. */
export const isFree = (method: string, path: string): boolean =>
  method === 'GET' && path.split('?')[0] === OPENAPI_PATH;

function readSegments(
  template: readonly string[],
  segments: readonly string[],
): Record<string, string> | undefined {
  if (template.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of template.entries()) {
    const given = segments[index] ?? '';
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined) {
      if (part !== given) return undefined;
      continue;
    }
    const value = decoded(given);
    if (value === undefined || value.includes('/')) return undefined;
    params[name] = value;
  }
  return params;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function encodeLoose(
  id: EndpointId,
  params: Record<string, string>,
  search: string,
  body: string | undefined,
): Encoded {
  const pairs = new URLSearchParams(search);
  const query: Record<string, unknown> = Object.fromEntries(pairs);
  // The one that a price hangs on; which of two values counts is the service's secret.
  if (pairs.getAll('limit').length > 1) throw usageError('limit stands twice');
  if (typeof query['limit'] === 'string') query['limit'] = Number(query['limit'] || Number.NaN);
  const parsed: unknown = body ? JSON.parse(body) : undefined;
  // `encode` checks it all against the row: that is the point of calling it.
  return encode(id, { params, query, body: parsed } as RequestParts<EndpointId>);
}

/** A raw path as it may be sent: without a fragment, everything beyond ASCII encoded. */
export function rawPath(path: string): string {
  const [bare = ''] = path.split('#');
  if (!bare.startsWith('/')) throw usageError('a path begins with a slash', 'for example: trdr api /v2/me');
  if (/\p{Cc}|\p{Cs}/u.test(bare)) throw usageError('the path holds a character that has no place in it');
  return bare.replace(/[^\x21-\x7e]/gu, encodeURIComponent);
}
