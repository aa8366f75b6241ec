import * as z from 'zod/mini';
import { usageError } from '../../base/failure.ts';
import { type EndpointId, endpointIds, OPENAPI_PATH } from '../../contract/endpoints.ts';
import { type Encoded, endpointRow } from './coding.ts';
import { checkSpelling, isOneSegment } from './path-spelling.ts';

/**
 * Finds the endpoint of a raw request. Returns undefined if no endpoint matches, or if the price is not known,
 * because the matching endpoint may reject the request or read it in another way than trdr.
 */
export function matchEndpoint(method: string, path: string, body: string | undefined): Encoded | undefined {
  // The first question mark separates path and query; later ones belong to the query.
  const [, pathname = '', search = ''] = /^([^?]*)\??(.*)$/.exec(path) ?? [];
  const segments = pathname.split('/');
  for (const id of endpointIds) {
    const row = endpointRow(id);
    if (row.method !== method) continue;
    const params = readSegments(row.path.split('/'), segments);
    if (!params) continue;
    try {
      // The service ignores a body that the endpoint does not expect, and charges the call.
      const read = z.safeParse(row.body, undefined).success ? undefined : body;
      return encodeLoose(id, params, search, read);
    } catch {
      // The price is not known: the endpoint would reject this request, or read it in another way than trdr.
      return undefined;
    }
  }
  return undefined;
}

/** Whether a raw request is known to be free. */
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
    if (value === undefined || !isOneSegment(given)) return undefined;
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

/**
 * Parses a raw request with the schemas of an endpoint. Query and body must be valid, because the price
 * depends on them. Path parameters may be invalid: the service then rejects the request or charges the
 * endpoint's usual price.
 */
function encodeLoose(
  id: EndpointId,
  params: Record<string, string>,
  search: string,
  body: string | undefined,
): Encoded {
  const row = endpointRow(id);
  const given: Record<string, unknown> = Object.fromEntries(new URLSearchParams(search));
  if (typeof given['limit'] === 'string') given['limit'] = Number(given['limit'] || Number.NaN);
  const query = z.parse(row.query, given);
  const request = { params, query, body: z.parse(row.body, body ? JSON.parse(body) : undefined) };
  return { id, row, method: row.method, path: row.path, body, request, bounds: row.price.before(request) };
}

/**
 * Prepares a raw path for sending: removes the fragment, and encodes spaces and non-ASCII characters. Throws
 * if the path is invalid, or differs from a documented path only in spelling.
 */
export function rawPath(path: string): string {
  const [bare = ''] = path.split('#');
  if (!bare.startsWith('/'))
    throw usageError('invalid path: it must start with a slash', 'write it like this: trdr api /v2/me');
  if (/\p{Cc}|\p{Cs}/u.test(bare))
    throw usageError(
      'the path contains a control character or invalid Unicode',
      'type it instead of pasting it',
    );
  const sending = bare.replace(/[^\x21-\x7e]/gu, encodeURIComponent);
  checkSpelling(sending);
  return sending;
}
