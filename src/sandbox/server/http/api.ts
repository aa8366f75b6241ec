import type { IncomingMessage, ServerResponse } from 'node:http';
import { type EndpointId, endpoints, OPENAPI_PATH } from '../../../contract/endpoints.ts';
import { errorCodes } from '../../../contract/errors.ts';
import type { Strike } from '../../faults/engine.ts';
import type { Key } from '../../keys/key.ts';
import type { Scope } from '../../keys/plans.ts';
import type { Kernel } from '../parts.ts';
import { bodyOfRefusal, type Refusal, refusal } from './api-error.ts';
import { type Outcome, refused } from './endpoint-handler.ts';
import { createRouter } from './path-router.ts';
import { readBody } from './request-body.ts';
import { type Answer, gatewayPage, reset, respond } from './response.ts';

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

/** Serves the table over HTTP: admission, faults, the work, its price, the answer, a line in the log. */
export function createCalls(kernel: Kernel) {
  const { settings, clock, faults, admission, routes, log, nextId } = kernel;
  const routeTo = createRouter(endpoints);
  let inFlight = 0;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const started = performance.now();
    const method = request.method ?? 'GET';
    const [path = '/', search = ''] = splitOnce(request.url ?? '/', '?');
    const ip = request.socket.remoteAddress ?? '';
    const requestId = nextId('req');
    const target = targetOf(method, path);
    const scope = target.endpoint && target.endpoint !== 'openapi' ? scopeOf(target.endpoint) : null;
    const admitted = target.endpoint
      ? admission.admit(request.headers, ip, scope)
      : { refusal: refusal('NOT_FOUND') };
    const key = 'key' in admitted ? admitted.key : null;

    inFlight++;
    try {
      if ('refusal' in admitted) return answer(refused(admitted.refusal), []);
      if (target.endpoint === null || target.endpoint === 'openapi') return await describe();
      const id = target.endpoint;
      // Read before anything strikes: a caller who goes away during a delay does not stop the work.
      const body = method === 'POST' ? await readBody(request) : '';
      const strikes = faults.draw('call', id);
      if (strikes.length > 0 && (await strikeBefore(strikes, id, admitted.key))) return;
      answer(await work(id, target.params, new URLSearchParams(search), body, admitted.key), strikes);
    } catch (error) {
      response.destroy(error instanceof Error ? error : undefined);
      throw error;
    } finally {
      inFlight--;
    }

    /** What happens instead of the work; true where the call ends here. */
    async function strikeBefore(strikes: readonly Strike[], id: EndpointId, by: Key): Promise<boolean> {
      for (const { what, ms } of strikes) {
        if (what.kind === 'delay') await pause(ms);
        if (what.kind === 'stall') {
          record(0, null, 0, 0);
          return true;
        }
        if (what.kind === 'reset') {
          reset(response);
          record(0, null, 0, 0);
          return true;
        }
        if (what.kind === 'answer' && 'gateway' in what.answer) {
          respond(response, gatewayPage(what.answer.gateway), strikes);
          record(what.answer.gateway, null, 0, 0);
          return true;
        }
        if (what.kind === 'answer' && 'code' in what.answer) {
          const { code } = what.answer;
          const seconds = code === 'RATE_LIMITED' ? Math.max(1, Math.ceil(ms / 1000)) : undefined;
          answer(routes[id].fail(refusal(code, undefined, seconds), { key: by, ip }), strikes);
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
      by: Key,
    ): Outcome | Promise<Outcome> {
      if (!params) return refused(refusal('BAD_REQUEST', 'The path is not encoded well.'));
      if (body === null) return refused(refusal('BAD_REQUEST', 'The body is larger than 1 MiB.'));
      const tooOften = id === 'user.resolve' ? admission.admitResolve(ip) : null;
      if (tooOften) return refused(tooOften);
      return routes[id].serve({ params, query, body }, { key: by, ip }, settings.batchReveals);
    }

    function answer(outcome: Outcome, strikes: readonly Strike[]) {
      const { status, body, headers } = outcome.ok
        ? { status: outcome.status, body: enveloped(outcome.record, requestId), headers: outcome.headers }
        : { ...failureOf(outcome.refusal), headers: {} };
      respond(response, jsonAnswer(status, body, { ...headers, 'x-request-id': requestId }), strikes);
      record(status, outcome.ok ? null : outcome.refusal.code, outcome.charge.cu, outcome.charge.reveals);
    }

    async function describe() {
      // The description is a document about the service, not an answer of it: it is never wrapped.
      const { openapi } = await import('../../../contract/openapi.ts');
      const host = request.headers.host ?? '127.0.0.1';
      const document = openapi({ envelope: settings.envelope, server: `http://${host}` });
      respond(response, jsonAnswer(200, document, { 'x-request-id': requestId }), []);
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

  const failureOf = (why: Refusal) => ({
    status: errorCodes[why.code].status,
    body: bodyOfRefusal(why, settings.retryAfter),
  });

  const enveloped = (record: unknown, requestId: string) =>
    settings.envelope === 'bare'
      ? record
      : { data: record, meta: { asOf: new Date(clock.now()).toISOString(), requestId } };

  function targetOf(method: string, path: string): Target {
    if (path === OPENAPI_PATH && method === 'GET') return { endpoint: 'openapi', params: {} };
    const match = routeTo(method, path);
    return match ? { endpoint: match.id, params: match.params } : { endpoint: null, params: {} };
  }

  return {
    serve,
    failureOf,
    get inFlight() {
      return inFlight;
    },
  };
}

const scopeOf = (id: EndpointId) => scopeOfGroup[endpoints[id].group];

/** A JSON answer. */
export const jsonAnswer = (status: number, body: unknown, headers: Record<string, string> = {}): Answer => ({
  status,
  text: JSON.stringify(body),
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
});

/** A text before and after the first `mark`. */
export function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)];
}
