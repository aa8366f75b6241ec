import * as z from 'zod/mini';
import { $ZodNumber, $ZodOptional, $ZodUndefined } from 'zod/v4/core';
import type { Answers, Endpoint, FieldShapes, Request } from '../../../contract/endpoint.ts';
import { issuesText } from '../../../contract/issue-text.ts';
import { type ApiError, apiError } from './api-error.ts';

/** A request that has not been validated yet. */
export interface RequestInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: string;
}

type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ApiError };

/** Validates a request against its endpoint. */
export function parseInput<
  P extends FieldShapes,
  Q extends FieldShapes,
  B extends z.core.$ZodType,
  A extends Answers,
>(endpoint: Endpoint<P, Q, B, A>, raw: RequestInput): Parsed<Request<z.output<P>, z.output<Q>, z.output<B>>> {
  const params = z.safeParse(endpoint.params, raw.params);
  if (!params.success) return invalid(params.error);
  const query = z.safeParse(endpoint.query, queryValues(endpoint.query, raw.query));
  if (!query.success) return invalid(query.error);
  const json =
    endpoint.method === 'POST' && takesBody(endpoint.body) ? parseJson(raw.body) : { value: undefined };
  if (!json) return { ok: false, error: apiError('BAD_REQUEST', 'The body is not valid JSON.') };
  const body = z.safeParse(endpoint.body, json.value);
  if (!body.success) return invalid(body.error);
  return { ok: true, value: { params: params.data, query: query.data, body: body.data } };
}

/** The query parameters that the endpoint has, with numbers converted. */
function queryValues(fields: FieldShapes, query: URLSearchParams): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(fields._zod.def.shape)) {
    const text = query.get(name);
    if (text === null) continue;
    values[name] = isNumber(schema) && /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  }
  return values;
}

function isNumber(schema: z.core.$ZodType): boolean {
  if (schema instanceof $ZodOptional) return isNumber(schema._zod.def.innerType);
  return schema instanceof $ZodNumber;
}

const takesBody = (schema: z.core.$ZodType) => !(schema instanceof $ZodUndefined);

function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function invalid(error: z.core.$ZodError): { ok: false; error: ApiError } {
  return { ok: false, error: apiError('VALIDATION_ERROR', `${issuesText(error.issues, 'The body')}.`) };
}
