import type { IncomingMessage, ServerResponse } from 'node:http';
import { type EndpointId, endpoints, OPENAPI_PATH } from '../../../contract/endpoints.ts';
import { errorCodes } from '../../../contract/errors.ts';
import type { TriggeredFault } from '../../faults/engine.ts';
import type { Key } from '../../keys/key.ts';
import type { Scope } from '../../keys/plans.ts';
import type { SandboxParts } from '../parts.ts';
import { type ApiError, apiError, apiErrorBody } from './api-error.ts';
import { type CallOutcome, freeError } from './endpoint-handler.ts';
import { createRouter } from './path-router.ts';
import { readBody } from './request-body.ts';
import { gatewayPage, type HttpResponse, resetConnection, respond } from './response.ts';

const scopeOfGroup: Record<(typeof endpoints)[EndpointId]['group'], Scope | null> = {
  identity: 'identity:read',
  numbers: 'numbers:read',
  theses: 'feed:read',
  launchpad: 'launchpad:read',
  account: null,
};

interface Target {
  readonly endpoint: EndpointId | 'openapi' | null;
  readonly params: Readonly<Record<string, string>> | undefined;
}

/**
 * Serves the endpoints over HTTP: checks the key and limits, applies faults, calls the handler, charges,
 * responds, and writes the log.
 */
export function createApi(parts: SandboxParts) {
  const { settings, clock, faults, admission, handlers, log, nextId } = parts;
  const matchPath = createRouter(endpoints);
  let inFlight = 0;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const started = performance.now();
    const method = request.method ?? 'GET';
    const [path = '/', search = ''] = splitTarget(request.url ?? '/');
    const ip = request.socket.remoteAddress ?? '';
    const requestId = nextId('req');
    const target = targetOf(method, path);
    const scope = target.endpoint && target.endpoint !== 'openapi' ? scopeOf(target.endpoint) : null;
    const admitted = target.endpoint
      ? admission.admit(request.headers, ip, scope)
      : { error: apiError('NOT_FOUND') };
    const key = 'key' in admitted ? admitted.key : null;

    inFlight++;
    try {
      if ('error' in admitted) return answer(freeError(admitted.error), []);
      if (target.endpoint === null || target.endpoint === 'openapi') return await describe();
      const id = target.endpoint;
      // Read the body before any fault is applied, so that a client that disconnects during a delay is still
      // served and charged.
      const body = method === 'POST' ? await readBody(request) : '';
      const triggered = faults.trigger('call', id);
      if (triggered.length > 0 && (await applyBefore(triggered, id, admitted.key))) return;
      answer(await work(id, target.params, new URLSearchParams(search), body, admitted.key), triggered);
    } catch (error) {
      response.destroy(error instanceof Error ? error : undefined);
      throw error;
    } finally {
      inFlight--;
    }

    /**
     * Applies the faults that delay or replace the processing of a call. Returns true if the call is
     * finished.
     */
    async function applyBefore(
      triggered: readonly TriggeredFault[],
      id: EndpointId,
      caller: Key,
    ): Promise<boolean> {
      for (const { fault, ms } of triggered) {
        if (fault.kind === 'delay') await pause(ms);
        if (fault.kind === 'stall') {
          record(0, null, 0, 0);
          return true;
        }
        if (fault.kind === 'reset') {
          resetConnection(response);
          record(0, null, 0, 0);
          return true;
        }
        if (fault.kind === 'answer' && 'gateway' in fault.answer) {
          respond(response, gatewayPage(fault.answer.gateway), triggered);
          record(fault.answer.gateway, null, 0, 0);
          return true;
        }
        if (fault.kind === 'answer' && 'code' in fault.answer) {
          const { code } = fault.answer;
          const seconds = code === 'RATE_LIMITED' ? Math.max(1, Math.ceil(ms / 1000)) : undefined;
          answer(handlers[id].fail(apiError(code, undefined, seconds), { key: caller, ip }), triggered);
          return true;
        }
      }
      return false;
    }

    function work(
      id: EndpointId,
      params: Target['params'],
      query: URLSearchParams,
      body: string | null,
      caller: Key,
    ): CallOutcome | Promise<CallOutcome> {
      if (!params) return freeError(apiError('BAD_REQUEST', 'The path has an invalid percent-encoding.'));
      if (body === null) return freeError(apiError('BAD_REQUEST', 'The body is larger than 1 MiB.'));
      const limited = id === 'user.resolve' ? admission.admitResolve(ip) : null;
      if (limited) return freeError(limited);
      return handlers[id].serve({ params, query, body }, { key: caller, ip }, settings.batchReveals);
    }

    function answer(outcome: CallOutcome, triggered: readonly TriggeredFault[]) {
      const { status, body, headers } = outcome.ok
        ? { status: outcome.status, body: wrap(outcome.record, requestId), headers: outcome.headers }
        : { ...errorResponse(outcome.error), headers: {} };
      respond(response, jsonResponse(status, body, { ...headers, 'x-request-id': requestId }), triggered);
      record(status, outcome.ok ? null : outcome.error.code, outcome.charge.cu, outcome.charge.reveals);
    }

    async function describe() {
      // The OpenAPI document is sent without an envelope.
      const { openapi } = await import('../../../contract/openapi.ts');
      const host = request.headers.host ?? '127.0.0.1';
      const document = openapi({ envelope: settings.envelope, server: `http://${host}` });
      respond(response, jsonResponse(200, document, { 'x-request-id': requestId }), []);
      record(200, null, 0, 0);
    }

    function record(status: number, code: string | null, cu: number, reveals: number) {
      const { endpoint } = target;
      const ms = performance.now() - started;
      const by = key?.id ?? null;
      log.add({
        time: clock.now(),
        requestId,
        method,
        path,
        endpoint,
        key: by,
        ip,
        status,
        code,
        cu,
        reveals,
        ms,
      });
    }
  }

  const pause = (ms: number) =>
    new Promise<void>((resolve) => clock.at(clock.now() + Math.round(ms), resolve));

  const errorResponse = (error: ApiError) => ({
    status: errorCodes[error.code].status,
    body: apiErrorBody(error, settings.retryAfter),
  });

  const wrap = (record: unknown, requestId: string) =>
    settings.envelope === 'bare'
      ? record
      : { data: record, meta: { asOf: new Date(clock.now()).toISOString(), requestId } };

  function targetOf(method: string, path: string): Target {
    if (path === OPENAPI_PATH && method === 'GET') return { endpoint: 'openapi', params: {} };
    const match = matchPath(method, path);
    return match ? { endpoint: match.id, params: match.params } : { endpoint: null, params: {} };
  }

  return {
    serve,
    get inFlight() {
      return inFlight;
    },
  };
}

const scopeOf = (id: EndpointId) => scopeOfGroup[endpoints[id].group];

/** A JSON response. */
export const jsonResponse = (
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): HttpResponse => ({
  status,
  text: JSON.stringify(body),
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
});

/** Splits the target of a request into path and query. */
export function splitTarget(target: string): [string, string] {
  const at = target.indexOf('?');
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)];
}
