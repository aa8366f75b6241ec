import * as z from 'zod/mini';
import { usageError } from '../../base/failure.ts';
import type { PriceBounds } from '../../contract/endpoint.ts';
import {
  type EndpointId,
  endpointIds,
  OPENAPI_PATH,
  SOCKET_PATH,
} from '../../contract/endpoints.ts';
import { type Encoded, endpointRow } from './coding.ts';

const FREE: PriceBounds = { least: 0, most: 0, reveals: 0 };

/**
 * Reads a request as the service will. The price of a path that is not exactly one of the table is
 * not known.
 */
export function readRaw(method: string, text: string, body: string | undefined) {
  const [bare = ''] = text.split('#');
  if (!bare.startsWith('/'))
    throw usageError(
      'invalid path: it must start with a slash',
      'write it like this: trdr api /v2/me',
    );
  if (/\p{Cc}|\p{Cs}/u.test(bare))
    throw usageError(
      'the path contains a control character or invalid Unicode',
      'type it instead of pasting it',
    );
  const path = bare.replace(/[^\x21-\x7e]/gu, encodeURIComponent);
  // The first question mark separates path and query; later ones belong to the query.
  const [, pathname = '', search = ''] = /^([^?]*)\??(.*)$/.exec(path) ?? [];
  checkPath(pathname);
  const id = endpointIds.find((one) => {
    const row = endpointRow(one);
    return row.method === method && paramsIn(row.path, pathname) !== undefined;
  });
  const call = id && callOf(id, pathname, search, body);
  /** Whether the request is known to be free, although it is not a call of an endpoint. */
  const isFree = method === 'GET' && pathname === OPENAPI_PATH;
  return {
    path,
    id,
    /** The call of the endpoint; undefined if trdr cannot read the request. */
    call,
    isFree,
    /** Undefined if the price is not known. */
    bounds: isFree ? FREE : call?.bounds,
  };
}

/** The parameters of a path; undefined if it does not match the template. */
function paramsIn(template: string, pathname: string): Record<string, string> | undefined {
  const parts = template.split('/');
  const segments = pathname.split('/');
  if (parts.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of parts.entries()) {
    const segment = segments[at] ?? '';
    if (part.startsWith('{')) params[part.slice(1, -1)] = decoded(segment);
    else if (part !== segment) return undefined;
  }
  return params;
}

/** Rejects a path that differs from one of the table in slashes, dots or percent-encoding only. */
function checkPath(pathname: string): void {
  const paths = [...endpointIds.map((id) => endpointRow(id).path), OPENAPI_PATH, SOCKET_PATH];
  const exact = paths.find((path) => paramsIn(path, pathname));
  const params = exact === undefined ? {} : paramsIn(exact, pathname);
  // A parameter with a slash could make another path, which has another price.
  const isExact = Object.values(params ?? {}).every((text) => !/^\.{0,2}$|\//.test(text));
  if (exact !== undefined && isExact) return;
  const like = exact ?? paths.find((path) => paramsIn(path, normalPath(pathname)));
  if (like !== undefined)
    throw usageError(
      `${pathname.slice(0, 200)} differs from ${like} only in spelling`,
      `write the path as ${like}`,
    );
}

/** A path, decoded, without empty segments and dot segments. */
function normalPath(pathname: string): string {
  const segments: string[] = [];
  for (const segment of decoded(pathname).split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}`;
}

/** Text with invalid percent-encoding stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Query and body must be valid, because the price depends on them. An invalid path parameter cannot
 * raise it.
 */
function callOf(
  id: EndpointId,
  pathname: string,
  search: string,
  body: string | undefined,
): Encoded | undefined {
  const row = endpointRow(id);
  const fields = [...new URLSearchParams(search)];
  const values: Record<string, unknown> = Object.fromEntries(fields);
  // Of a repeated parameter, the service may read any value.
  if (fields.length > Object.keys(values).length) return undefined;
  if (typeof values['limit'] === 'string') values['limit'] = Number(values['limit'] || Number.NaN);
  // The service ignores a body that the endpoint does not expect, and charges the call.
  const read = z.safeParse(row.body, undefined).success ? undefined : body;
  try {
    const request = {
      params: paramsIn(row.path, pathname) ?? {},
      query: z.parse(row.query, values),
      body: z.parse(row.body, read ? JSON.parse(read) : undefined),
    };
    const { method, path, price } = row;
    return { id, row, method, path, body: read, request, bounds: price.before(request) };
  } catch {
    // The endpoint would reject this request, or read it in another way than trdr.
    return undefined;
  }
}
