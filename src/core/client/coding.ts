import * as z from 'zod/mini';
import type { Hint } from '../../base/failure.ts';
import { Failure, usageError } from '../../base/failure.ts';
import { parseJson } from '../../base/json.ts';
import { isRecord } from '../../base/json-object.ts';
import {
  type AnyEndpoint,
  type Charge,
  chargeOfError,
  type PriceBounds,
  pathOf,
  type Request,
} from '../../contract/endpoint.ts';
import { type EndpointId, endpoints } from '../../contract/endpoints.ts';
import { Meta } from '../../contract/errors.ts';
import { issuesText } from '../../contract/issue-text.ts';
import type { RequestParts, Result } from '../../contract/ports/client.ts';
import type { HttpAnswer } from '../../contract/ports/transport.ts';
import { type FieldDifference, known } from '../../contract/read-record.ts';
import { recognize, recordTypes, stampRows } from '../../contract/record-types.ts';
import {
  DIFFERENT_SERVICE,
  OTHER_SERVER,
  readServiceError,
  requestIdOf,
  unbilled,
} from './service-errors.ts';

type Values = Record<string, unknown>;

export interface Encoded {
  readonly id: EndpointId;
  readonly row: AnyEndpoint;
  readonly method: string;
  /** Path and query, to be appended to the base URL. */
  readonly path: string;
  readonly body: string | undefined;
  readonly request: Request<Values, Values>;
  readonly bounds: PriceBounds;
}

/** `charge` is undefined if the cost of the call cannot be read from the answer. */
type DecodedAnswer<T> = (
  | { readonly ok: true; readonly value: T; readonly differences: readonly FieldDifference[] }
  | { readonly ok: false; readonly failure: Failure }
) & { readonly charge: Charge | undefined; readonly requestId: string | undefined };

/**
 * Its price functions accept any input. Pass only what the schemas of the same endpoint have
 * parsed.
 */
export const endpointRow = (id: EndpointId): AnyEndpoint => endpoints[id];

/** Throws a usage error if a parameter or the body is invalid. */
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

/** `now` is needed for a Retry-After that is a date. */
export function decode<Id extends EndpointId>(
  call: Encoded & { readonly id: Id },
  answer: HttpAnswer,
  now: number,
): DecodedAnswer<Result<Id>> {
  const { row, request } = call;
  const body = parseJson(answer.text);
  const requestId = requestIdOf(answer, body);
  if (!isSuccess(answer.status)) {
    const { failure, own } = readServiceError(answer, body, now);
    const charge = errorCharge(call, failure, own);
    return { ok: false, failure: withoutRoute(failure), requestId, charge };
  }
  if (body === undefined) {
    const text = answer.text.trim();
    const what = text === '' ? 'it is empty' : `it is not JSON${typeOf(answer)}`;
    // An empty answer or a page comes from something in between, such as a login page, and may not
    // come again.
    return unreadable(call, answer, requestId, what, {
      hint: OTHER_SERVER,
      retryable: text === '' || text.startsWith('<'),
    });
  }
  // A success with an undocumented status is decoded as if its status were 200.
  const { 200: whole, 202: pending } = row.answers();
  const isPending = answer.status === 202 && pending !== undefined;
  const schema = isPending ? pending : whole;
  const recordType = isPending ? 'pending' : row.recordType;
  const recognized = recognize(recordType, body);
  if (!recognized) {
    const { failure, own } = readServiceError(answer, body, now);
    const error = own ? ` but the error ${failure.code}: ${failure.message}` : '';
    return unreadable(
      call,
      answer,
      requestId,
      `it contains no ${recordTypes[recordType].name} record${error}`,
    );
  }
  const { record } = recognized;
  const meta = isRecord(recognized.meta) ? known(Meta, recognized.meta) : undefined;
  if (meta?.asOf !== undefined) stampRows(record, meta.asOf);
  const differences = new Map<string, FieldDifference>();
  const answered = {
    status: isPending ? (202 as const) : (200 as const),
    known: known(schema, record, (difference) => {
      if (!differences.has(difference.field)) differences.set(difference.field, difference);
    }),
  };
  const charge = row.price.after(request, answered);
  const { headers } = answer;
  // This cast is safe: the record was read with the schema of this endpoint and status.
  const value = { ...answered, record, meta, requestId, headers } as unknown as Result<Id>;
  return { ok: true, value, charge, requestId, differences: [...differences.values()] };
}

/**
 * A route of the table that the service does not have says nothing about the subject: the base URL
 * probably has a wrong path.
 */
const withoutRoute = (failure: Failure): Failure =>
  failure.code === 'NOT_FOUND' ? new Failure('service', failure.message, failure) : failure;

export const NO_CHARGE: Charge = { cu: 0, reveals: 0 };

/** Undefined if the response does not show the cost. */
function errorCharge({ row, bounds }: Encoded, failure: Failure, own: boolean): Charge | undefined {
  const { status = 0, code } = failure;
  if (bounds.most === 0 || (!own && unbilled.has(status))) return NO_CHARGE;
  if (own) return chargeOfError(row, status, code);
  // A 404 without a documented code may be a charged "not found", or come from a server that is not
  // the service.
  return status === 404 ? { ...NO_CHARGE, uncertain: row.price.miss } : undefined;
}

const isSuccess = (status: number) => status >= 200 && status < 300;

function unreadable(
  call: Encoded,
  answer: HttpAnswer,
  requestId: string | undefined,
  what: string,
  other?: { readonly hint: Hint; readonly retryable: boolean },
) {
  const { bounds, method, row } = call;
  const failure = new Failure(
    'answer',
    `cannot read the answer of ${method} ${row.path}: ${what}`,
    {
      code: 'BAD_ANSWER',
      status: answer.status,
      requestId,
      hint: DIFFERENT_SERVICE,
      ...other,
      answer: answer.text,
    },
  );
  return {
    ok: false as const,
    failure,
    requestId,
    charge: bounds.most === 0 ? NO_CHARGE : undefined,
  };
}

const typeOf = ({ headers }: HttpAnswer) => {
  const type = headers['content-encoding'] ?? headers['content-type']?.split(';')[0];
  return type ? ` (${type.slice(0, 60)})` : '';
};

function check<S extends z.core.$ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return parsed.data;
  throw usageError(
    issuesText(parsed.error.issues, 'the request body'),
    'fix the part that the message names',
  );
}

/**
 * Rejects what URL encoding does not make safe: a dot segment, which would alter the path, and
 * invalid text.
 */
function checkSegment(name: string, value: string): void {
  if (value === '.' || value === '..')
    throw usageError(`${name} cannot be "${value}"`, 'pass a handle, an address or an id');
  if (/\p{Cc}|\p{Cs}/u.test(value))
    throw usageError(
      `${name} contains a control character or invalid Unicode`,
      'remove the invalid characters, or type it by hand',
    );
}
