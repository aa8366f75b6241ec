import * as z from 'zod/mini';
import { $ZodNumber, $ZodOptional, $ZodUndefined } from 'zod/v4/core';
import type { Answers, Endpoint, FieldShapes, Request } from '../../../contract/endpoint.ts';
import { issuesText } from '../../../contract/issue-text.ts';
import { type Refusal, refusal } from './api-error.ts';

/** A request as it came: nothing checked yet. */
export interface RawInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: string;
}

type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

/** Checks a request against its row of the table. */
export function parseInput<
  P extends FieldShapes,
  Q extends FieldShapes,
  B extends z.core.$ZodType,
  A extends Answers,
>(row: Endpoint<P, Q, B, A>, raw: RawInput): Parsed<Request<z.output<P>, z.output<Q>, z.output<B>>> {
  const params = z.safeParse(row.params, raw.params);
  if (!params.success) return invalid(params.error);
  const query = z.safeParse(row.query, textsOf(row.query, raw.query));
  if (!query.success) return invalid(query.error);
  const json = row.method === 'POST' && takesBody(row.body) ? parseJson(raw.body) : { value: undefined };
  if (!json) return { ok: false, refusal: refusal('BAD_REQUEST', 'The body is no JSON.') };
  const body = z.safeParse(row.body, json.value);
  if (!body.success) return invalid(body.error);
  return { ok: true, value: { params: params.data, query: query.data, body: body.data } };
}

/** The members of a query that the row knows; those that are numbers there become numbers. */
function textsOf(fields: FieldShapes, query: URLSearchParams): Record<string, unknown> {
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

function invalid(error: z.core.$ZodError): { ok: false; refusal: Refusal } {
  return { ok: false, refusal: refusal('VALIDATION_ERROR', `${issuesText(error.issues, 'The body')}.`) };
}
