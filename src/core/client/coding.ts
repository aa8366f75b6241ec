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
import { Meta } from '../../contract/envelope.ts';
import { errorCodes, isErrorCode } from '../../contract/errors.ts';
import { forms, recognise } from '../../contract/forms.ts';
import { issuesText } from '../../contract/issue-text.ts';
import { type Difference, isRecord, known } from '../../contract/known.ts';
import type { HttpAnswer, RequestParts, Result } from '../../contract/ports.ts';
import { readServiceError, requestIdOf } from './service-errors.ts';

type Values = Record<string, unknown>;

/** A row, whose price takes whatever its schemas have read. */
export type EndpointRow = Omit<AnyEndpoint, 'price'> & {
  readonly price: Price<Request<Values, Values>, { readonly status: 200 | 202; readonly known: unknown }>;
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

/** An answer, read. `charge` is undefined where the answer does not tell what the call cost. */
export type DecodedAnswer<Id extends EndpointId> =
  | {
      readonly ok: true;
      readonly result: Result<Id>;
      readonly charge: Charge;
      /** How the record differs from its description, each field once. */
      readonly differences: readonly Difference[];
    }
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
  const { row, request } = call;
  const body = parseJson(answer.text);
  const requestId = requestIdOf(answer, body);
  if (!isSuccess(answer.status)) {
    const { failure, documented } = readServiceError(answer, body, now);
    return { ok: false, failure, charge: errorCharge(call, answer.status, failure.code, documented) };
  }
  if (body === undefined)
    return unreadable(
      call,
      answer,
      requestId,
      answer.text.trim() === '' ? 'it is empty' : `it is not JSON${typeOf(answer)}`,
    );
  // A success of another status than documented is read as the record it holds.
  const isPending = answer.status === 202 && row.answers[202] !== undefined;
  const schema = (isPending && row.answers[202]) || row.answers[200];
  const form = isPending ? 'pending' : row.form;
  const found = recognise(form, body);
  if (!found) return unreadable(call, answer, requestId, `it holds no ${forms[form].name} record`);
  const { record } = found;
  const differences = new Map<string, Difference>();
  const answered = {
    status: isPending ? (202 as const) : (200 as const),
    known: known(schema, record, (difference) => {
      if (!differences.has(difference.field)) differences.set(difference.field, difference);
    }),
  };
  const charge = row.price.after(request, answered);
  const { headers } = answer;
  const meta = isRecord(found.meta) ? known(Meta, found.meta) : undefined;
  // The schema that was chosen is the row's own for this status.
  const result = { ...answered, record, meta, requestId, charge, headers } as unknown as Result<Id>;
  return { ok: true, result, charge, differences: [...differences.values()] };
}

const NOTHING: Charge = { cu: 0, reveals: 0 };

/** What an error can have cost; undefined where neither the status nor the body tells. */
function errorCharge(
  { row, bounds }: Encoded,
  status: number,
  code: string,
  documented: boolean,
): Charge | undefined {
  if (status < 400 || bounds.most === 0) return NOTHING;
  // A 404 of an unknown form may be a miss as well as a wrong address.
  if (status === 404 && !(documented && isErrorCode(code))) return { ...NOTHING, uncertain: row.price.miss };
  // A 5xx page of a gateway does not tell whether the service behind it has served the call.
  const isClear = documented ? status >= 500 || isDocumented(status) : isDocumented(status) && status < 500;
  if (!isClear) return undefined;
  return documented ? chargeOfError(row, status, code) : NOTHING;
}

const statuses = new Set<number>(Object.values(errorCodes).map(({ status }) => status));
const isDocumented = (status: number) => statuses.has(status);

const isSuccess = (status: number) => status >= 200 && status < 300;

function unreadable(call: Encoded, answer: HttpAnswer, requestId: string | undefined, what: string) {
  const { bounds, method, row } = call;
  const failure = new Failure('answer', `cannot read the answer of ${method} ${row.path}: ${what}`, {
    code: 'BAD_ANSWER',
    status: answer.status,
    requestId,
    hint: 'trdr doctor shows how the service differs from its description',
    answer: answer.text,
  });
  // What served it is not certain: the call may have been charged, up to its most.
  return { ok: false as const, failure, charge: bounds.most === 0 ? NOTHING : undefined };
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

/** A path is taken as it is written: what would climb out of it, or cannot be written, is refused. */
function checkSegment(name: string, value: string): void {
  if (value === '.' || value === '..') throw usageError(`${name} cannot be "${value}"`);
  if (/\p{Cc}|\p{Cs}/u.test(value)) throw usageError(`${name} holds a character that has no place in it`);
}
