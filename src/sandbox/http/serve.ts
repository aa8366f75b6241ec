import type { IncomingMessage, ServerResponse } from 'node:http';
import { chargeOfError } from '../../contract/endpoint.ts';
import { endpoints, OPENAPI_PATH } from '../../contract/endpoints.ts';
import { errorCodes } from '../../contract/errors.ts';
import { RESOLVES_PER_MINUTE } from '../../contract/limits.ts';
import type { TriggeredFault } from '../faults/engine.ts';
import { handlers } from '../handlers.ts';
import { chargeKey, type Key, type Scope, scopeOfGroup } from '../keys.ts';
import { addToLog, nextId, type SandboxState } from '../state.ts';
import { callEndpoint, findRoute } from './endpoint.ts';
import {
  ApiError,
  errorResponse,
  gatewayPage,
  type HttpResponse,
  jsonResponse,
  respond,
  simulatedError,
} from './response.ts';

const MAX_BODY_BYTES = 1024 * 1024;

export async function serveCall(
  sandbox: SandboxState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { counts, clock, faults } = sandbox;
  const { method = 'GET', url = '/' } = request;
  const [path = ''] = url.split('?', 1);
  const query = new URLSearchParams(url.slice(path.length));
  const requestId = nextId(sandbox, 'req');
  const isOpenApi = path === OPENAPI_PATH && method === 'GET';
  const route = isOpenApi ? undefined : findRoute(method, path);
  let triggered: readonly TriggeredFault[] = [];
  let key: Key | undefined;

  response.setHeader('date', new Date(clock.now()).toUTCString());
  counts.inFlight++;
  try {
    if (!route && !isOpenApi) throw new ApiError('NOT_FOUND');
    key = admit(sandbox, request, route ? scopeOfGroup[endpoints[route.id].group] : null);
    if (route) await serveRoute(route, key);
    else await serveDescription();
  } catch (error) {
    if (!(error instanceof ApiError)) {
      response.destroy();
      throw error;
    }
    sendError(error);
  } finally {
    counts.inFlight--;
  }

  async function serveRoute(found: NonNullable<typeof route>, of: Key): Promise<void> {
    const { id } = found;
    // Before any fault, so that a client that disconnects during a delay is still served and charged.
    const body = method === 'POST' ? await readBody(request) : '';
    triggered = faults.trigger('call', id);
    for (const { kind, ms, code, status } of triggered) {
      if (kind === 'delay')
        await new Promise<void>((resolve) => clock.at(clock.now() + ms, resolve));
      if (kind === 'reset') response.socket?.resetAndDestroy();
      if (kind === 'reset' || kind === 'stall') return record(0);
      if (kind === 'gateway') return send(gatewayPage(status));
      if (code) throw simulatedError(code, ms);
    }
    if (body === null) throw new ApiError('BAD_REQUEST', 'The body is larger than 1 MiB.');
    if (id === 'user.resolve')
      limit(sandbox, `resolve ${request.socket.remoteAddress}`, RESOLVES_PER_MINUTE, 60_000);
    const {
      cu,
      status,
      record: data,
      headers,
    } = await callEndpoint(sandbox, handlers, id, { route: found, query, body }, of);
    const meta = { asOf: new Date(clock.now()).toISOString(), requestId };
    const envelope = sandbox.envelope === 'bare' ? data : { data, meta };
    send(jsonResponse(status, envelope, { ...headers, 'x-request-id': requestId }), cu);
  }

  async function serveDescription(): Promise<void> {
    const { openapi } = await import('../../contract/openapi.ts');
    const server = `http://${request.headers.host ?? '127.0.0.1'}`;
    // The OpenAPI document is sent without an envelope.
    send(jsonResponse(200, openapi(sandbox.envelope, server), { 'x-request-id': requestId }));
  }

  /** Charges the price that the endpoint has for an error. */
  function sendError(error: ApiError): void {
    const charge =
      route && chargeOfError(endpoints[route.id], errorCodes[error.code].status, error.code);
    const shortage = key && charge && chargeKey(key, charge, clock.now());
    send(
      errorResponse(shortage ? new ApiError(shortage) : error, requestId),
      shortage ? 0 : charge?.cu,
    );
  }

  function send(answer: HttpResponse, cu = 0): void {
    respond(response, answer, triggered);
    record(answer.status, cu);
  }

  function record(status: number, cu = 0): void {
    addToLog(sandbox, {
      requestId,
      path,
      endpoint: isOpenApi ? 'openapi' : (route?.id ?? null),
      status,
      cu,
    });
  }
}

async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    // Read to the end: otherwise, a client that is still sending would not receive the response.
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return bytes > MAX_BODY_BYTES ? null : Buffer.concat(chunks).toString();
}

/** If `scope` is null, as for `me`, keys that never had an allowance are accepted too. */
export function admit(
  sandbox: SandboxState,
  { headers, socket }: IncomingMessage,
  scope: Scope | null,
): Key {
  limit(sandbox, `burst ${socket.remoteAddress}`, sandbox.burstPerSecond, 1_000);
  const [, bearer] = /^Bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? '') ?? [];
  const key = sandbox.keys.get(bearer ?? headers['x-api-key']?.toString().trim() ?? '');
  if (!key) throw new ApiError('UNAUTHORIZED');
  limit(sandbox, key.id, key.ratePerMinute, 60_000);
  if (scope && !key.scopes.has(scope))
    throw new ApiError('FORBIDDEN_SCOPE', `The key lacks the scope ${scope}.`);
  if (scope && !key.unmetered && !key.wasGranted) throw new ApiError('FREE_TIER_DISABLED');
  return key;
}

/** Counts a call, or rejects it if there were `most` calls within the last `spanMs`. Rejected calls do not count. */
function limit(
  { rateWindows, clock }: SandboxState,
  name: string,
  most: number,
  spanMs: number,
): void {
  const now = clock.now();
  const times = rateWindows.get(name) ?? [];
  rateWindows.set(name, times);
  while (times[0] !== undefined && times[0] <= now - spanMs) times.shift();
  if (times.length >= most) {
    const free = (times[times.length - most] ?? now) + spanMs;
    throw new ApiError('RATE_LIMITED', undefined, Math.max(1, Math.ceil((free - now) / 1_000)));
  }
  times.push(now);
}
