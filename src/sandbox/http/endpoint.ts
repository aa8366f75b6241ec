import * as z from 'zod/mini';
import { $ZodNumber, $ZodOptional, $ZodUndefined } from 'zod/v4/core';
import { quietly } from '../../base/calls.ts';
import {
  type Answered,
  type AnyEndpoint,
  chargeOfError,
  type FieldShapes,
  type Request,
} from '../../contract/endpoint.ts';
import { type EndpointId, endpointIds, endpoints, type RequestOf } from '../../contract/endpoints.ts';
import { errorCodes } from '../../contract/errors.ts';
import { issuesText } from '../../contract/issue-text.ts';
import { chargeKey, type Key } from '../keys.ts';
import type { SandboxState } from '../state.ts';
import { type ApiError, apiError } from './response.ts';

type Result<Id extends EndpointId> =
  | (Answered<(typeof endpoints)[Id]['answers']> & { readonly headers?: Record<string, string> })
  | { readonly error: ApiError };

export type Handlers = {
  readonly [Id in EndpointId]: (
    sandbox: SandboxState,
    request: RequestOf<Id>,
    key: Key,
  ) => Result<Id> | Promise<Result<Id>>;
};

export const reply = <R>(record: R) => ({ status: 200 as const, record });

export const reject = (...parts: Parameters<typeof apiError>) => ({ error: apiError(...parts) });

/** Finds the endpoint of a path. Empty parameters match too, so that their schema rejects them with a message. */
export function findRoute(method: string, path: string) {
  const parts = path.split('/');
  for (const id of endpointIds) {
    const segments = endpoints[id].path.split('/');
    const fits =
      segments.length === parts.length && segments.every((each, at) => isParam(each) || each === parts[at]);
    if (fits && endpoints[id].method === method) return { id, segments, parts };
  }
  return undefined;
}

const isParam = (segment: string) => segment.startsWith('{');

/** A call after it was charged. */
export type ChargedCall = { readonly cu: number } & (
  | { readonly error: ApiError }
  | { readonly status: number; readonly record: unknown; readonly headers?: Record<string, string> }
);

export const freeError = (error: ApiError): ChargedCall => ({ error, cu: 0 });

interface RequestInput {
  readonly route: NonNullable<ReturnType<typeof findRoute>>;
  readonly query: URLSearchParams;
  readonly body: string;
}

export async function callEndpoint<Id extends EndpointId>(
  sandbox: SandboxState,
  handlers: Handlers,
  id: Id,
  input: RequestInput,
  key: Key,
): Promise<ChargedCall> {
  const row: AnyEndpoint = endpoints[id];
  const parsed = parseInput(row, input);
  if ('error' in parsed) return freeError(parsed.error);
  // The cast is safe: the schemas of the same row have validated the request.
  const result = await handlers[id](sandbox, parsed.request as RequestOf<Id>, key);
  if ('error' in result) return chargeError(sandbox, id, result.error, key);
  const { cu, reveals } = row.price.after(parsed.request, { status: result.status, known: result.record });
  const charge = { cu, reveals: sandbox.batchReveals === 'entry' ? reveals : Math.min(1, reveals) };
  const shortage = chargeKey(key, charge, sandbox.clock.now());
  return shortage ? freeError(apiError(shortage)) : { ...result, cu };
}

/** An error response, charged at the price that the endpoint has for that error. */
export function chargeError({ clock }: SandboxState, id: EndpointId, error: ApiError, key: Key): ChargedCall {
  const charge = chargeOfError(endpoints[id], errorCodes[error.code].status, error.code);
  const shortage = chargeKey(key, charge, clock.now());
  return shortage ? freeError(apiError(shortage)) : { error, cu: charge.cu };
}

function parseInput(
  row: AnyEndpoint,
  { route: { segments, parts }, ...input }: RequestInput,
): { request: Request } | { error: ApiError } {
  const words = quietly(() =>
    segments.flatMap((segment, at) =>
      isParam(segment) ? [[segment.slice(1, -1), decodeURIComponent(parts[at] ?? '')]] : [],
    ),
  );
  if (!words) return reject('BAD_REQUEST', 'The path has an invalid percent-encoding.');
  const params = z.safeParse(row.params, Object.fromEntries(words));
  if (!params.success) return invalid(params.error);
  const query = z.safeParse(row.query, queryValues(row.query, input.query));
  if (!query.success) return invalid(query.error);
  const json =
    row.body instanceof $ZodUndefined
      ? { value: undefined }
      : quietly(() => ({ value: JSON.parse(input.body) as unknown }));
  if (!json) return reject('BAD_REQUEST', 'The body is not valid JSON.');
  const body = z.safeParse(row.body, json.value);
  if (!body.success) return invalid(body.error);
  return { request: { params: params.data, query: query.data, body: body.data } };
}

function queryValues(fields: FieldShapes, query: URLSearchParams): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(fields._zod.def.shape)) {
    const text = query.get(name);
    const inner = schema instanceof $ZodOptional ? schema._zod.def.innerType : schema;
    if (text !== null)
      values[name] = inner instanceof $ZodNumber && /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  }
  return values;
}

const invalid = (error: z.core.$ZodError) =>
  reject('VALIDATION_ERROR', `${issuesText(error.issues, 'The body')}.`);
