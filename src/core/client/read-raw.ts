import * as z from 'zod/mini';
import { usageError } from '../../base/failure.ts';
import {
  type EndpointId,
  endpointIds,
  OPENAPI_PATH,
  SOCKET_PATH,
} from '../../contract/endpoints.ts';
import { type Encoded, endpointRow } from './coding.ts';

/**
 * Rejects misspelled paths: a lenient service could accept one, and charge a price that no limit
 * was checked for.
 */
export function readRaw(method: string, given: string, body: string | undefined) {
  const [bare = ''] = given.split('#');
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
  const ids = endpointIds.filter((id) => paramsIn(endpointRow(id).path, pathname));
  if (ids.length > 0) checkQuery(search, new Set(ids.flatMap((id) => queryNames(id))));
  const id = ids.find((one) => endpointRow(one).method === method);
  return {
    path,
    id,
    /**
     * The call of the endpoint; undefined if its price is not known, because trdr cannot read the
     * request.
     */
    call: id && callOf(id, pathname, search, body),
    /** Whether the request is known to be free, although it is not a call of an endpoint. */
    isFree: method === 'GET' && pathname === OPENAPI_PATH,
  };
}

/** The parameters of a path; undefined if it does not match the template. */
function paramsIn(template: string, pathname: string): Record<string, string> | undefined {
  const [parts, segments] = [template.split('/'), pathname.split('/')];
  if (parts.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of parts.entries()) {
    const segment = segments[at] ?? '';
    if (!part.startsWith('{')) {
      if (part !== segment) return undefined;
      continue;
    }
    params[part.slice(1, -1)] = decoded(segment);
  }
  return params;
}

/** Rejects a path that is a documented path only after it is normalized. */
function checkPath(pathname: string): void {
  const paths = [...endpointIds.map((id) => endpointRow(id).path), OPENAPI_PATH, SOCKET_PATH];
  // A server may decode a parameter before it splits the path, so a parameter must stay one
  // segment.
  const isClear = (text: string) => !/^\.{0,2}$|[/\\\p{Cc}]|^\s|\s$/u.test(text);
  const exact = paths.find((path) => paramsIn(path, pathname));
  if (exact !== undefined && Object.values(paramsIn(exact, pathname) ?? {}).every(isClear)) return;
  const normal = normalPath(pathname);
  const like = exact ?? paths.find((path) => paramsIn(path.toLowerCase(), normal));
  if (like !== undefined)
    throw usageError(
      `${pathname.slice(0, 200)} differs from ${like} only in spelling`,
      `write the path as ${like}`,
    );
}

/**
 * The price can depend on which of two values the service uses, or on whether it accepts `LIMIT`
 * for `limit`.
 */
function checkQuery(search: string, known: ReadonlySet<string>): void {
  if (search.includes(';'))
    throw usageError(
      'the service may read a ; in the query as part of a value or as a separator',
      'separate parameters with &; write a ; inside a value as %3B',
    );
  const seen = new Set<string>();
  for (const part of search.split('&')) {
    const [given = ''] = part.split('=');
    const name = normalText(given.replaceAll('+', ' ')).replace(/\[.*$/s, '');
    if (seen.has(name) || (known.has(name) && name !== given))
      throw usageError(
        `the parameter "${given.slice(0, 200)}" is repeated or misspelled`,
        `write the parameter as ${name.slice(0, 200)}=..., once`,
      );
    if (part !== '') seen.add(name);
  }
}

const queryNames = (id: EndpointId) => Object.keys(endpointRow(id).query.def.shape);

/** Lower case, decoded, without white space and invisible characters. */
const normalText = (text: string): string =>
  decoded(text)
    .replace(/[\p{Cc}\p{Cf}\s]/gu, '')
    .normalize('NFKC')
    .toLowerCase();

/**
 * A path as a lenient service may read it: also without matrix parameters, empty segments and dot
 * segments.
 */
function normalPath(pathname: string): string {
  const out: string[] = [];
  for (const part of normalText(pathname).split(/[/\\]/)) {
    const [segment = ''] = part.split(/[;?#]/);
    if (segment === '..') out.pop();
    else if (segment !== '' && segment !== '.') out.push(segment);
  }
  return `/${out.join('/')}`;
}

/** Decodes up to five levels of percent-encoding. Invalid encoding stays unchanged. */
function decoded(text: string): string {
  let current = text;
  for (let level = 0; level < 5; level++) {
    current = current.replace(/(?:%[0-9a-f]{2})+/gi, (codes) => {
      try {
        return decodeURIComponent(codes);
      } catch {
        return codes;
      }
    });
  }
  return current;
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
  const given: Record<string, unknown> = Object.fromEntries(new URLSearchParams(search));
  if (typeof given['limit'] === 'string') given['limit'] = Number(given['limit'] || Number.NaN);
  // The service ignores a body that the endpoint does not expect, and charges the call.
  const read = z.safeParse(row.body, undefined).success ? undefined : body;
  try {
    const request = {
      params: paramsIn(row.path, pathname) ?? {},
      query: z.parse(row.query, given),
      body: z.parse(row.body, read ? JSON.parse(read) : undefined),
    };
    const { method, path, price } = row;
    return { id, row, method, path, body: read, request, bounds: price.before(request) };
  } catch {
    // The endpoint would reject this request, or read it in another way than trdr.
    return undefined;
  }
}
