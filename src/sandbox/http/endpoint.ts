import * as z from 'zod/mini';
import { $ZodNumber, $ZodObject, $ZodOptional, type $ZodType, $ZodUndefined } from 'zod/v4/core';
import { quietly } from '../../base/calls.ts';
import { isRecord } from '../../base/json-object.ts';
import type {
  Answered,
  AnswersOf,
  AnyEndpoint,
  FieldShapes,
  Request,
} from '../../contract/endpoint.ts';
import {
  type EndpointId,
  endpointIds,
  endpoints,
  type RequestOf,
} from '../../contract/endpoints.ts';
import { issuesText } from '../../contract/issue-text.ts';
import { chargeKey, type Key } from '../keys.ts';
import type { SandboxState } from '../state.ts';
import { ApiError } from './response.ts';

type Result<Id extends EndpointId> = Answered<AnswersOf<(typeof endpoints)[Id]>> & {
  readonly headers?: Record<string, string>;
};

/** A handler throws an `ApiError` for an error response. */
export type Handlers = {
  readonly [Id in EndpointId]: (
    sandbox: SandboxState,
    request: RequestOf<Id>,
    key: Key,
  ) => Result<Id> | Promise<Result<Id>>;
};

/**
 * Finds the endpoint of a path. Empty parameters match too, so that their schema rejects them with
 * a message.
 */
export function findRoute(method: string, path: string): Route | undefined {
  const parts = path.split('/');
  for (const id of endpointIds) {
    const segments = endpoints[id].path.split('/');
    const fits =
      segments.length === parts.length &&
      segments.every((segment, at) => isParam(segment) || segment === parts[at]);
    if (fits && endpoints[id].method === method) return { id, segments, parts };
  }
  return undefined;
}

export interface Route {
  readonly id: EndpointId;
  /** The parts of the template, and those of the path. */
  readonly segments: readonly string[];
  readonly parts: readonly string[];
}

const isParam = (segment: string) => segment.startsWith('{');

export async function callEndpoint<Id extends EndpointId>(
  sandbox: SandboxState,
  handlers: Handlers,
  id: Id,
  input: CallInput,
  key: Key,
) {
  const row: AnyEndpoint = endpoints[id];
  const request = readRequest(row, input);
  // The cast is safe: the schemas of the same row have validated the request.
  const result = await handlers[id](sandbox, request as RequestOf<Id>, key);
  const { cu, reveals } = row.price.after(request, { status: result.status, known: result.record });
  const charge = { cu, reveals: sandbox.batchReveals === 'entry' ? reveals : Math.min(1, reveals) };
  const shortage = chargeKey(key, charge, sandbox.clock.now());
  if (shortage) throw new ApiError(shortage);
  return { ...result, cu };
}

export interface CallInput {
  readonly route: Route;
  readonly query: URLSearchParams;
  /** The text of the body, and the type that the client states for it. */
  readonly body: string;
  readonly bodyType: string | undefined;
}

function readRequest(row: AnyEndpoint, { route, query, body: text, bodyType }: CallInput): Request {
  const { segments, parts } = route;
  const words = quietly(() =>
    segments.flatMap((segment, at) =>
      isParam(segment) ? [[segment.slice(1, -1), decodeURIComponent(parts[at] ?? '')]] : [],
    ),
  );
  if (!words) throw new ApiError('BAD_REQUEST', 'The path has an invalid percent-encoding.');
  const { params, query: fields, body } = row;
  const sent = {
    params: Object.fromEntries(words),
    query: queryValues(fields, query),
    body: bodyValue(body, text, bodyType),
  };
  const { success, data, error } = z.safeParse(z.object({ params, query: fields, body }), sent);
  if (success) return data;
  const issues = error.issues.map((issue) => ({ ...issue, path: issue.path.slice(1) }));
  throw new ApiError('VALIDATION_ERROR', `${issuesText(issues, 'The body')}.`);
}

function bodyValue(schema: $ZodType, text: string, type: string | undefined): unknown {
  if (schema instanceof $ZodUndefined) {
    if (text === '') return undefined;
    throw new ApiError('BAD_REQUEST', 'This call has no body.');
  }
  if (!/^application\/json(?:;|$)/.test(type ?? ''))
    throw new ApiError('BAD_REQUEST', 'The body is not sent as application/json.');
  const json = quietly(() => ({ value: JSON.parse(text) as unknown }));
  if (!json) throw new ApiError('BAD_REQUEST', 'The body is not valid JSON.');
  if (schema instanceof $ZodObject && isRecord(json.value))
    checkNames(Object.keys(json.value), schema._zod.def.shape);
  return json.value;
}

function queryValues(fields: FieldShapes, query: URLSearchParams): Record<string, unknown> {
  const { shape } = fields._zod.def;
  checkNames([...query.keys()], shape);
  const values: Record<string, unknown> = {};
  for (const [name, text] of query) {
    if (Object.hasOwn(values, name)) throw invalid(`${name} is sent more than once.`);
    const schema = shape[name];
    const inner = schema instanceof $ZodOptional ? schema._zod.def.innerType : schema;
    values[name] = inner instanceof $ZodNumber && INTEGER.test(text) ? Number(text) : text;
  }
  return values;
}

/** An integer in its only usual form: without a sign or zeros before it. */
const INTEGER = /^(?:0|-?[1-9]\d{0,14})$/;

/** The description promises nothing for names that it does not list. */
function checkNames(names: readonly string[], shape: object): void {
  const unknown = names.find((name) => !Object.hasOwn(shape, name));
  if (unknown !== undefined) throw invalid(`${unknown} is unknown.`);
}

const invalid = (problem: string) => new ApiError('VALIDATION_ERROR', problem);
