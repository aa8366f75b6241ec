import * as z from 'zod/mini';
import { $ZodUndefined } from 'zod/v4/core';
import { type AnyEndpoint, commonErrors } from './endpoint.ts';
import { endpointIds, endpoints, OPENAPI_PATH, SOCKET_PATH, SOCKET_PRICE } from './endpoints.ts';
import { ErrorBody, type ErrorCode, errorCodes, Meta } from './errors.ts';
import { withoutSafeBounds } from './field.ts';
import { ClientFrame, ServerFrame } from './frames.ts';
import { Me } from './records/account.ts';
import { Board, Callout, CalloutPage, LaunchpadUser } from './records/launchpad.ts';
import { Pnl, PnlBatch, PnlWindow } from './records/pnl.ts';
import {
  Thesis,
  ThesisFrameData,
  ThesisPage,
  TokenThesisPage,
  UserThesisPage,
} from './records/thesis.ts';
import { Pending, User } from './records/user.ts';

type Json = Record<string, unknown>;

/** The schemas that have a name in the document. */
const named = {
  User,
  Pending,
  Pnl,
  PnlWindow,
  PnlBatch,
  Thesis,
  ThesisPage,
  TokenThesisPage,
  UserThesisPage,
  LaunchpadUser,
  Callout,
  CalloutPage,
  Board,
  Me,
  Meta,
  Error: ErrorBody,
  ThesisFrameData,
  ClientFrame,
  ServerFrame,
} as const satisfies Record<string, z.core.$ZodType>;

const names = Object.keys(named) as (keyof typeof named)[];

/**
 * The table of endpoints as an OpenAPI 3.1 document. An answer is the record itself (bare), or has
 * it under `data` next to `meta` (wrapped).
 */
export function openapi(envelope: 'bare' | 'wrapped' = 'bare', server = '/') {
  const paths: Record<string, Json> = {};
  for (const id of endpointIds) {
    const row: AnyEndpoint = endpoints[id];
    paths[row.path] = {
      ...paths[row.path],
      [row.method.toLowerCase()]: operation(id, row, envelope),
    };
  }
  paths[SOCKET_PATH] = { get: socketOperation() };
  paths[OPENAPI_PATH] = { get: selfOperation() };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Trader identity and thesis feed',
      version: '1.1.0',
      description:
        'Users behind handles and wallets, their trading numbers, the thesis feed, and the launchpad.',
    },
    servers: [{ url: server }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: [...new Set(endpointIds.map((id) => endpoints[id].group)), 'live'].map((name) => ({
      name,
    })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
      },
      schemas: components(),
    },
  };
}

function operation(id: string, row: AnyEndpoint, envelope: 'bare' | 'wrapped'): Json {
  const answers = row.answers();
  const answer = success('The answer.', answers[200], envelope);
  const responses: Json = {
    200: row.headers === undefined ? answer : { ...answer, headers: headers(row.headers) },
  };
  if (answers[202])
    responses['202'] = success('No answer yet; not an error.', answers[202], envelope);
  return {
    operationId: id,
    summary: row.summary,
    tags: [row.group],
    parameters: [...parameters(row.params, 'path'), ...parameters(row.query, 'query')],
    ...(row.body instanceof $ZodUndefined
      ? {}
      : { requestBody: { required: true, content: json(schemaOf(row.body)) } }),
    responses: { ...responses, ...failures(errorsOf(row)) },
    'x-price': { text: row.price.text, miss: row.price.miss },
    'x-retry': row.retry,
    'x-timeout-seconds': row.timeoutSeconds,
  };
}

const headers = (described: NonNullable<AnyEndpoint['headers']>): Json =>
  Object.fromEntries(
    Object.entries(described).map(([name, { description, values }]) => [
      name,
      { description, schema: { type: 'string', enum: values } },
    ]),
  );

// The service's description documents only these for the account endpoint.
const errorsOf = (row: AnyEndpoint): readonly ErrorCode[] =>
  row.group === 'account'
    ? ['UNAUTHORIZED', 'RATE_LIMITED', 'OVERLOADED', 'B2B_DISABLED']
    : [...row.errors, ...commonErrors];

function socketOperation(): Json {
  const errors: ErrorCode[] = [
    'BAD_REQUEST',
    'UNAUTHORIZED',
    'QUOTA_EXCEEDED',
    'FORBIDDEN_SCOPE',
    'FREE_TIER_DISABLED',
    'NOT_FOUND',
    'RATE_LIMITED',
  ];
  return {
    operationId: 'live',
    summary: 'The live feed, by WebSocket upgrade. A plain GET returns 404.',
    tags: ['live'],
    responses: {
      101: { description: 'The socket is open; frames follow.' },
      ...failures([...errors, 'OVERLOADED', 'B2B_DISABLED']),
    },
    'x-price': { text: SOCKET_PRICE },
    'x-frames': { client: ref('ClientFrame'), server: ref('ServerFrame') },
  };
}

function selfOperation(): Json {
  const document = { type: 'object', required: ['openapi', 'info', 'paths'] };
  return {
    operationId: 'openapi',
    summary: 'This document.',
    tags: ['account'],
    responses: {
      200: { description: 'OpenAPI 3.1.', content: json(document) },
      ...failures(['UNAUTHORIZED', 'RATE_LIMITED']),
    },
    'x-price': { text: 'free' },
  };
}

function parameters(fields: AnyEndpoint['params'], place: 'path' | 'query'): Json[] {
  const { properties = {}, required = [] } = plain(fields);
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = schema;
    const must = place === 'path' || required.includes(name);
    return { name, in: place, required: must, description, schema: rest };
  });
}

function success(description: string, schema: z.core.$ZodType, envelope: 'bare' | 'wrapped'): Json {
  const data = schemaOf(schema);
  const whole = {
    type: 'object',
    properties: { data, meta: ref('Meta') },
    required: ['data', 'meta'],
  };
  return { description, content: json(envelope === 'bare' ? data : whole) };
}

/** The error responses by status, with the codes that each status can carry. */
function failures(codes: readonly ErrorCode[]): Json {
  const distinct = [...new Set(codes)];
  const statuses = [...new Set(distinct.map((code) => errorCodes[code].status))];
  const byStatus = statuses.map(
    (status) =>
      [String(status), distinct.filter((code) => errorCodes[code].status === status)] as const,
  );
  const answer = (all: readonly ErrorCode[]) => ({
    description: all.map((code) => `\`${code}\`: ${errorCodes[code].meaning}`).join('\n'),
    content: json(ref('Error')),
    'x-codes': all,
  });
  return Object.fromEntries(byStatus.map(([status, all]) => [status, answer(all)]));
}

const json = (schema: Json) => ({ 'application/json': { schema } });
const ref = (name: keyof typeof named): Json => ({ $ref: `#/components/schemas/${name}` });

function schemaOf(schema: z.core.$ZodType): Json {
  const name = names.find((candidate) => named[candidate] === schema);
  return name ? ref(name) : plain(schema);
}

/** The JSON Schema without `$schema`, which belongs only at the root of a document. */
function plain(schema: z.core.$ZodType) {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    override: ({ jsonSchema }) => withoutSafeBounds(jsonSchema),
  });
  return rest as Json & { properties?: Record<string, Json>; required?: string[] };
}

function components(): Record<string, Json> {
  const registry = z.registry<{ id: string }>();
  for (const name of names) registry.add(named[name], { id: name });
  const { schemas } = z.toJSONSchema(registry, {
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => withoutSafeBounds(jsonSchema),
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema]),
  );
}
