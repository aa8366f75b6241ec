import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { chargeOfError } from '../../contract/endpoint.ts';
import { endpoints, OPENAPI_PATH } from '../../contract/endpoints.ts';
import { errorCodes } from '../../contract/errors.ts';
import { RESOLVES_PER_MINUTE } from '../../contract/limits.ts';
import { insteadOfAnswer, respond } from '../faults/effects.ts';
import type { TriggeredFault } from '../faults/engine.ts';
import { handlers } from '../handlers.ts';
import { chargeKey, type Key, type Scope, scopeOfGroup } from '../keys.ts';
import { addToLog, nextId, type SandboxState } from '../state.ts';
import { callEndpoint, findRoute, type Route } from './endpoint.ts';
import { ApiError, errorResponse, type HttpResponse, jsonResponse } from './response.ts';

const MAX_BODY_BYTES = 1024 * 1024;

export async function serveCall(
  sandbox: SandboxState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  sandbox.counts.inFlight++;
  try {
    await new ServedCall(sandbox, request, response).serve();
  } finally {
    sandbox.counts.inFlight--;
  }
}

/** One REST call: who may make it, what its faults do to it, what it is charged and answered. */
class ServedCall {
  readonly #sandbox: SandboxState;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #requestId: string;
  readonly #method: string;
  readonly #path: string;
  readonly #query: URLSearchParams;
  readonly #isDescription: boolean;
  readonly #route: Route | undefined;
  #triggered: readonly TriggeredFault[] = [];
  #key: Key | undefined;

  constructor(sandbox: SandboxState, request: IncomingMessage, response: ServerResponse) {
    const { method = 'GET', url = '/' } = request;
    const [path = ''] = url.split('?', 1);
    this.#sandbox = sandbox;
    this.#request = request;
    this.#response = response;
    this.#requestId = nextId(sandbox, 'req');
    this.#method = method;
    this.#path = path;
    this.#query = new URLSearchParams(url.slice(path.length));
    this.#isDescription = path === OPENAPI_PATH && method === 'GET';
    this.#route = this.#isDescription ? undefined : findRoute(method, path);
  }

  async serve(): Promise<void> {
    const route = this.#route;
    // The clock of the sandbox may differ from that of the machine, and clients read the time of
    // the service here.
    this.#response.setHeader('date', new Date(this.#sandbox.clock.now()).toUTCString());
    try {
      if (!route && !this.#isDescription) throw new ApiError('NOT_FOUND');
      const scope = route ? scopeOfGroup[endpoints[route.id].group] : null;
      const { headers, socket } = this.#request;
      const key = keyIn(headers) ?? headers['x-api-key']?.toString();
      this.#key = admit(this.#sandbox, socket, key, scope);
      if (route) await this.#serveRoute(route, this.#key);
      else await this.#serveDescription();
    } catch (error) {
      if (!(error instanceof ApiError)) {
        this.#response.destroy();
        throw error;
      }
      this.#sendError(error);
    }
  }

  async #serveRoute(route: Route, key: Key): Promise<void> {
    const { id } = route;
    const { faults, clock, envelope, reading } = this.#sandbox;
    // Before any fault, so that a client that disconnects during a delay is still served and
    // charged.
    const body = this.#method === 'POST' ? await readBody(this.#request) : '';
    this.#triggered = faults.trigger('call', id);
    const instead = await insteadOfAnswer(this.#triggered, clock, this.#response);
    if (instead === 'nothing') return this.#record(0);
    if (instead) return this.#send(instead);
    if (body === null) throw new ApiError('BAD_REQUEST', 'The body is larger than 1 MiB.');
    if (id === 'user.resolve') {
      const name = `resolve ${this.#request.socket.remoteAddress}`;
      limit(this.#sandbox, name, RESOLVES_PER_MINUTE, 60_000);
    }
    const bodyType = this.#request.headers['content-type'];
    const input = { route, query: this.#query, body, bodyType };
    const answer = await callEndpoint(this.#sandbox, handlers, id, input, key);
    const meta = { asOf: new Date(clock.now()).toISOString(), requestId: this.#requestId };
    const record = reading(answer.record, id);
    const sent = envelope === 'bare' ? record : { data: record, meta };
    this.#send(jsonResponse(answer.status, sent, answer.headers), answer.cu);
  }

  async #serveDescription(): Promise<void> {
    const { openapi } = await import('../../contract/openapi.ts');
    const server = `http://${this.#request.headers.host ?? '127.0.0.1'}`;
    // The OpenAPI document is sent without an envelope.
    const document = openapi(this.#sandbox.envelope, server);
    this.#send(jsonResponse(200, document));
  }

  /** Charges the price that the endpoint has for an error. */
  #sendError(error: ApiError): void {
    const route = this.#route;
    const { status } = errorCodes[error.code];
    const charge = route && chargeOfError(endpoints[route.id], status, error.code);
    const shortage = this.#key && charge && chargeKey(this.#key, charge, this.#sandbox.clock.now());
    if (shortage) this.#send(errorResponse(new ApiError(shortage)));
    else this.#send(errorResponse(error), charge?.cu);
  }

  #send(answer: HttpResponse, cu = 0): void {
    respond(this.#response, answer, this.#triggered);
    this.#record(answer.status, cu);
  }

  #record(status: number, cu = 0): void {
    addToLog(this.#sandbox, {
      requestId: this.#requestId,
      path: this.#path,
      endpoint: this.#isDescription ? 'openapi' : (this.#route?.id ?? null),
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

/** The key in `Authorization`, in the form that the description has. */
export const keyIn = ({ authorization = '' }: IncomingHttpHeaders): string | undefined =>
  /^Bearer (\S+)$/.exec(authorization)?.[1];

/** If `scope` is null, as for `me`, keys that never had an allowance are accepted too. */
export function admit(
  sandbox: SandboxState,
  { remoteAddress }: Socket,
  text: string | undefined,
  scope: Scope | null,
): Key {
  limit(sandbox, `burst ${remoteAddress}`, sandbox.burstPerSecond, 1_000);
  const key = sandbox.keys.get(text ?? '');
  if (!key) throw new ApiError('UNAUTHORIZED');
  limit(sandbox, key.id, key.ratePerMinute, 60_000);
  if (scope && !key.scopes.has(scope))
    throw new ApiError('FORBIDDEN_SCOPE', `The key lacks the scope ${scope}.`);
  if (scope && !key.unmetered && !key.wasGranted) throw new ApiError('FREE_TIER_DISABLED');
  return key;
}

/**
 * Counts a call, or rejects it if there were `maxCalls` calls within the last `spanMs`. Rejected
 * calls do not count.
 */
function limit(
  { rateWindows, clock }: SandboxState,
  name: string,
  maxCalls: number,
  spanMs: number,
): void {
  const now = clock.now();
  const times = rateWindows.get(name) ?? [];
  rateWindows.set(name, times);
  while (times[0] !== undefined && times[0] <= now - spanMs) times.shift();
  if (times.length >= maxCalls) {
    const free = (times[times.length - maxCalls] ?? now) + spanMs;
    throw new ApiError('RATE_LIMITED', undefined, Math.max(1, Math.ceil((free - now) / 1_000)));
  }
  times.push(now);
}
