import { Failure, usageError } from '../../base/failure.ts';
import { parseJson } from '../../base/json.ts';
import { isRecord, type JsonObject } from '../../base/json-object.ts';
import type { HttpAnswer } from '../../contract/ports/transport.ts';
import { readPage, type SentPage } from '../../contract/records/page.ts';

/** A field from the command line: `limit=50`, `handles[]=mira`. */
export interface Field {
  readonly name: string;
  readonly value: string;
}

interface RawCall {
  /** The HTTP method; by default POST if `input` is set, otherwise GET. */
  readonly method: string | undefined;
  readonly path: string;
  readonly fields: readonly Field[];
  /** A complete body. If it is set, the fields become query parameters. */
  readonly input: string | undefined;
}

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
}

/** Fields go into a JSON body; or into the query for GET and HEAD, or if `input` is the body. */
export function rawRequest({ method: stated, path, fields, input }: RawCall): RawRequest {
  const method = stated ?? (input === undefined ? 'GET' : 'POST');
  const inQuery =
    input !== undefined || method === 'GET' || method === 'HEAD' || fields.length === 0;
  return {
    method,
    path: inQuery ? withQuery(path, fields) : path,
    body: input ?? (inQuery ? undefined : JSON.stringify(bodyOf(fields))),
  };
}

function withQuery(path: string, fields: readonly Field[]): string {
  if (fields.length === 0) return path;
  const query = fields.map(
    ({ name, value }) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  return `${path}${path.includes('?') ? '&' : '?'}${query.join('&')}`;
}

/** Fields as an object: `a[]=c` adds to a list. All values are strings. */
function bodyOf(fields: readonly Field[]): JsonObject {
  // The object has no prototype, so that names such as `__proto__` are ordinary members.
  const body: Record<string, string | string[]> = Object.create(null);
  for (const { name, value } of fields) {
    const [, first = '', list] = /^([^[\]]+)(\[\])?$/.exec(name) ?? [];
    if (first === '')
      throw usageError(`invalid field name "${name}"`, 'write name=value or name[]=value');
    const before = body[first] ?? [];
    if (typeof before === 'string' || (list === undefined && body[first]))
      throw usageError(
        `the field "${first}" is given twice`,
        `give it once, or write ${first}[]=value for each item of a list`,
      );
    body[first] = list === undefined ? value : [...before, value];
  }
  return body;
}

/** The page in a response; undefined if the response is not a page. */
export function pageIn({ text }: Pick<HttpAnswer, 'text'>): SentPage | undefined {
  const body = parseJson(text);
  if (!isRecord(body)) return undefined;
  const { data } = body;
  const page = isRecord(data) && !Object.hasOwn(body, 'nextBefore') ? data : body;
  const isPage = ['items', 'hasMore', 'nextBefore'].some((name) => Object.hasOwn(page, name));
  return isPage ? readPage(page, Number.POSITIVE_INFINITY) : undefined;
}

export function withCursor(path: string, before: string): string {
  if (/\p{Cs}/u.test(before)) {
    throw new Failure('answer', 'the cursor of the next page contains invalid Unicode', {
      code: 'BAD_ANSWER',
      hint: 'the pages so far were printed; to continue, pass the id of the last item with -f before=ID',
    });
  }
  const [, bare = '', query = ''] = /^([^?]*)\??(.*)$/.exec(path) ?? [];
  const others = query.split('&').filter((part) => part !== '' && !/^before(?:=|$)/.test(part));
  return `${bare}?${[...others, `before=${encodeURIComponent(before)}`].join('&')}`;
}
