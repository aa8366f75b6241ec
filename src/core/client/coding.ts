import * as z from 'zod/mini';
import { Failure, usageError } from '../../base/failure.ts';
import { parseJson } from '../../base/json.ts';
import {
  type AnyEndpoint,
  type Bounds,
  type Charge,
  chargeOfError,
  type Price,
  pathOf,
  type Request,
} from '../../contract/endpoint.ts';
import { type EndpointId, endpoints } from '../../contract/endpoints.ts';
import { unwrap } from '../../contract/envelope.ts';
import { issuesText } from '../../contract/issue-text.ts';
import type { HttpAnswer, RequestParts, Result } from '../../contract/ports.ts';
import { readServiceError, requestIdOf } from './service-errors.ts';

type Values = Record<string, unknown>;

/** A row, whose price takes whatever its schemas have read. */
export type EndpointRow = Omit<AnyEndpoint, 'price'> & {
  readonly price: Price<Request<Values, Values>, { readonly status: 200 | 202; readonly record: unknown }>;
};

/** A call, checked and spelled out. */
export interface Encoded {
  readonly id: EndpointId;
  readonly row: EndpointRow;
  readonly method: string;
  /** Path and query, below the base URL. */
  readonly path: string;
  readonly body: string | undefined;
  readonly request: Request<Values, Values>;
  readonly bounds: Bounds;
}

/** An answer, read. `charge` is undefined where it can't be told what the call cost. */
export type DecodedAnswer<Id extends EndpointId> =
  | { readonly ok: true; readonly result: Result<Id>; readonly charge: Charge }
  | { readonly ok: false; readonly failure: Failure; readonly charge: Charge | undefined };

// A row's functions take their own request alone, so no row is a `Row` to the compiler. It holds
// because whatever is handed to them here was parsed by the same row's schemas.
export const endpointRow = (id: EndpointId) => endpoints[id] as unknown as EndpointRow;

/** Spells a call out, or says what is wrong with it before anything is sent. */
export function encode<Id extends EndpointId>(id: Id, ask: RequestParts<Id>): Encoded {
  const row = endpointRow(id);
  const request = {
    params: check(row.params, ask.params ?? {}),
    query: check(row.query, ask.query ?? {}),
    body: check(row.body, ask.body),
  };
  for (const [name, value] of Object.entries(request.params)) checkSegment(name, String(value));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request.query)) {
    if (value !== undefined) query.append(name, String(value));
  }
  const path = pathOf(row.path, request.params);
  return {
    id,
    row,
    method: row.method,
    path: query.size > 0 ? `${path}?${query}` : path,
    body: request.body === undefined ? undefined : JSON.stringify(request.body),
    request,
    bounds: row.price.before(request),
  };
}

/** Reads the answer of a call. `now` is for waits that are stated as a date. */
export function decode<Id extends EndpointId>(
  call: Encoded & { readonly id: Id },
  answer: HttpAnswer,
  now: number,
): DecodedAnswer<Id> {
  const { row, request, bounds } = call;
  const body = parseJson(answer.text);
  const requestId = requestIdOf(answer, body);
  const schema =
    answer.status === 200 ? row.answers[200] : answer.status === 202 ? row.answers[202] : undefined;
  if (!schema) {
    if (answer.status >= 200 && answer.status < 300)
      return unreadable(call, answer, requestId, 'its status is not one of this call');
    const { failure, documented } = readServiceError(answer, body, now);
    // A gateway's own 5xx says nothing of whether the service behind it has served the call.
    const unsure = !documented && answer.status >= 500 && answer.status !== 503;
    const charge = documented ? chargeOfError(row, answer.status, failure.code) : NOTHING;
    return { ok: false, failure, charge: unsure && bounds.most > 0 ? undefined : charge };
  }
  if (body === undefined) return unreadable(call, answer, requestId, `it is no JSON${typeOf(answer)}`);
  const { data, meta } = unwrap(body);
  const parsed = z.safeParse(schema, data);
  if (!parsed.success) {
    return unreadable(call, answer, requestId, issuesText(parsed.error.issues, 'the record'));
  }
  // The answer as it came: the copy that a schema makes loses `__proto__`, and how numbers were written.
  const answered = { status: answer.status === 202 ? (202 as const) : (200 as const), record: data };
  const charge = row.price.after(request, answered);
  const { headers } = answer;
  // The schema that was chosen is the row's own for this status.
  const result = { ...answered, meta, requestId, charge, headers } as unknown as Result<Id>;
  return { ok: true, result, charge };
}

const NOTHING: Charge = { cu: 0, reveals: 0 };

function unreadable(call: Encoded, answer: HttpAnswer, requestId: string | undefined, what: string) {
  const { bounds, method, row } = call;
  const failure = new Failure('answer', `the answer of ${method} ${row.path} can't be read: ${what}`, {
    code: 'BAD_ANSWER',
    status: answer.status,
    requestId,
    hint: 'see it as it came with trdr api, and how the service differs with trdr doctor',
  });
  // It was answered, so it was charged: how much is known only where the price does not depend on the answer.
  const charge = bounds.least === bounds.most ? { cu: bounds.most, reveals: 0 } : undefined;
  return { ok: false as const, failure, charge };
}

const typeOf = ({ headers }: HttpAnswer) => {
  const type = headers['content-encoding'] ?? headers['content-type']?.split(';')[0];
  return type ? ` (${type.slice(0, 60)})` : '';
};

function check<S extends z.core.$ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return parsed.data;
  throw usageError(issuesText(parsed.error.issues, 'the request body'));
}

/** A path is taken as it is written: what would climb out of it, or can't be written, is refused. */
function checkSegment(name: string, value: string): void {
  if (value === '.' || value === '..') throw usageError(`${name} can't be "${value}"`);
  if (/\p{Cc}|\p{Cs}/u.test(value)) throw usageError(`${name} holds a character that has no place in it`);
}
