import * as z from 'zod/mini';
import { $ZodNumber, $ZodOptional, $ZodUndefined } from 'zod/v4/core';
import { quietly } from '../../base/calls.ts';
import type { Answered, AnyEndpoint, FieldShapes, Request } from '../../contract/endpoint.ts';
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

type Result<Id extends EndpointId> = Answered<(typeof endpoints)[Id]['answers']> & {
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
      segments.every((each, at) => isParam(each) || each === parts[at]);
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
  input: { readonly route: Route; readonly query: URLSearchParams; readonly body: string },
  key: Key,
) {
  const row: AnyEndpoint = endpoints[id];
  const request = readRequest(row, input.route, input.query, input.body);
  // The cast is safe: the schemas of the same row have validated the request.
  const result = await handlers[id](sandbox, request as RequestOf<Id>, key);
  const { cu, reveals } = row.price.after(request, { status: result.status, known: result.record });
  const charge = { cu, reveals: sandbox.batchReveals === 'entry' ? reveals : Math.min(1, reveals) };
  const shortage = chargeKey(key, charge, sandbox.clock.now());
  if (shortage) throw new ApiError(shortage);
  return { ...result, cu };
}

function readRequest(
  row: AnyEndpoint,
  { segments, parts }: Route,
  query: URLSearchParams,
  text: string,
): Request {
  const words = quietly(() =>
    segments.flatMap((segment, at) =>
      isParam(segment) ? [[segment.slice(1, -1), decodeURIComponent(parts[at] ?? '')]] : [],
    ),
  );
  if (!words) throw new ApiError('BAD_REQUEST', 'The path has an invalid percent-encoding.');
  const json =
    row.body instanceof $ZodUndefined
      ? { value: undefined }
      : quietly(() => ({ value: JSON.parse(text) as unknown }));
  if (!json) throw new ApiError('BAD_REQUEST', 'The body is not valid JSON.');
  const { params, query: fields, body } = row;
  const sent = {
    params: Object.fromEntries(words),
    query: queryValues(fields, query),
    body: json.value,
  };
  const { success, data, error } = z.safeParse(z.object({ params, query: fields, body }), sent);
  if (success) return data;
  const issues = error.issues.map((issue) => ({ ...issue, path: issue.path.slice(1) }));
  throw new ApiError('VALIDATION_ERROR', `${issuesText(issues, 'The body')}.`);
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
