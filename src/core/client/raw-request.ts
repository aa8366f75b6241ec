import { Failure, usageError } from '../../base/failure.ts';
import { parseJson } from '../../base/json.ts';
import { isRecord } from '../../base/json-object.ts';
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

type Nested = string | Nested[] | { [name: string]: Nested };

/** Fields as an object: `a[b]=c` nests, `a[]=c` adds to a list. All values are strings. */
function bodyOf(fields: readonly Field[]): Nested {
  // The object has no prototype, so that names such as `__proto__` are ordinary members.
  const body: { [name: string]: Nested } = Object.create(null);
  for (const { name, value } of fields) {
    const [, first = '', rest = ''] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? [];
    if (first === '')
      throw usageError(
        `invalid field name "${name}"`,
        'write name=value, name[]=value or a[b]=value',
      );
    const steps = [first, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, step = '']) => step)];
    body[first] = placed(body[first], steps.slice(1), value, name);
  }
  return body;
}

function placed(
  there: Nested | undefined,
  steps: readonly string[],
  value: string,
  name: string,
): Nested {
  const [step, ...rest] = steps;
  if (step === undefined) {
    if (there !== undefined && typeof there !== 'string') throw mixed(name);
    if (there !== undefined)
      throw usageError(
        `the field "${name}" is given twice`,
        `give the field once, or write ${name}[]=value for each item of a list`,
      );
    return value;
  }
  if (step === '') {
    if (there !== undefined && !Array.isArray(there)) throw mixed(name);
    return [...(there ?? []), placed(undefined, rest, value, name)];
  }
  if (typeof there === 'string' || Array.isArray(there)) throw mixed(name);
  const inner: { [name: string]: Nested } = Object.assign(Object.create(null), there);
  inner[step] = placed(inner[step], rest, value, name);
  return inner;
}

const mixed = (name: string) =>
  usageError(
    `the field "${name}" conflicts with an earlier field: a field is either a value, a list or an object`,
    'use one form: a=value, a[]=value or a[b]=value',
  );

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
