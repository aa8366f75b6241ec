import type { IncomingMessage, ServerResponse } from 'node:http';
import { endpoints, OPENAPI_PATH } from '../../contract/endpoints.ts';
import { RESOLVES_PER_MINUTE } from '../../contract/limits.ts';
import type { TriggeredFault } from '../faults/engine.ts';
import { handlers } from '../handlers.ts';
import { type Key, scopeOfGroup } from '../keys.ts';
import { addToLog, nextId, type SandboxState } from '../state.ts';
import { admit, limit } from './admission.ts';
import { type ChargedCall, callEndpoint, chargeError, findRoute, freeError } from './endpoint.ts';
import {
  apiError,
  errorResponse,
  gatewayPage,
  type HttpResponse,
  jsonResponse,
  respond,
  simulatedError,
  splitTarget,
} from './response.ts';

const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Serves one call: checks the key and limits, applies faults, calls the handler, charges, responds, and writes
 * the log.
 */
export async function serveCall(
  sandbox: SandboxState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { counts, clock } = sandbox;
  const { method = 'GET' } = request;
  const [path, query] = splitTarget(request.url);
  const ip = request.socket.remoteAddress ?? '';
  const requestId = nextId(sandbox, 'req');
  const isOpenApi = path === OPENAPI_PATH && method === 'GET';
  const route = isOpenApi ? undefined : findRoute(method, path);
  const scope = route ? scopeOfGroup[endpoints[route.id].group] : null;
  const admitted =
    route || isOpenApi ? admit(sandbox, request.headers, ip, scope) : { error: apiError('NOT_FOUND') };

  response.setHeader('date', new Date(clock.now()).toUTCString());
  counts.inFlight++;
  try {
    if ('error' in admitted) finish(freeError(admitted.error));
    else if (route) await serveRoute(route, admitted.key);
    else await serveDescription();
  } catch (error) {
    response.destroy(error instanceof Error ? error : undefined);
    throw error;
  } finally {
    counts.inFlight--;
  }

  async function serveRoute(found: NonNullable<typeof route>, key: Key): Promise<void> {
    const { id } = found;
    // Read the body before any fault is applied, so that a client that disconnects during a delay is still
    // served and charged.
    const body = method === 'POST' ? await readBody(request) : '';
    const triggered = sandbox.faults.trigger('call', id);
    for (const { kind, ms, code, status } of triggered) {
      if (kind === 'delay') await new Promise<void>((resolve) => clock.at(clock.now() + ms, resolve));
      if (kind === 'reset') response.socket?.resetAndDestroy();
      if (kind === 'reset' || kind === 'stall') return record(0);
      if (kind === 'gateway') return send(gatewayPage(status), triggered);
      if (code) return finish(chargeError(sandbox, id, simulatedError(code, ms), key), triggered);
    }
    if (body === null) return finish(freeError(apiError('BAD_REQUEST', 'The body is larger than 1 MiB.')));
    const input = { route: found, query: new URLSearchParams(query), body };
    const limited =
      id === 'user.resolve' ? limit(sandbox, `resolve ${ip}`, RESOLVES_PER_MINUTE, 60_000) : null;
    finish(limited ? freeError(limited) : await callEndpoint(sandbox, handlers, id, input, key), triggered);
  }

  async function serveDescription(): Promise<void> {
    const { openapi } = await import('../../contract/openapi.ts');
    const server = `http://${request.headers.host ?? '127.0.0.1'}`;
    // The OpenAPI document is sent without an envelope.
    send(jsonResponse(200, openapi(sandbox.envelope, server), { 'x-request-id': requestId }));
  }

  function finish(call: ChargedCall, triggered: readonly TriggeredFault[] = []): void {
    send(responseOf(call), triggered, call.cu);
  }

  function responseOf(call: ChargedCall): HttpResponse {
    if ('error' in call) return errorResponse(call.error, requestId);
    const { status, record: data, headers } = call;
    const meta = { asOf: new Date(clock.now()).toISOString(), requestId };
    const body = sandbox.envelope === 'bare' ? data : { data, meta };
    return jsonResponse(status, body, { ...headers, 'x-request-id': requestId });
  }

  function send(answer: HttpResponse, triggered: readonly TriggeredFault[] = [], cu = 0): void {
    respond(response, answer, triggered);
    record(answer.status, cu);
  }

  function record(status: number, cu = 0): void {
    addToLog(sandbox, { requestId, path, endpoint: isOpenApi ? 'openapi' : (route?.id ?? null), status, cu });
  }
}

async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    // Read to the end even if the body is too large: otherwise, a client that is still sending would not
    // receive the response.
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return bytes > MAX_BODY_BYTES ? null : Buffer.concat(chunks).toString();
}
