import type { IncomingMessage, ServerResponse } from 'node:http';
import { Failure } from '../../../base/failure.ts';
import type { ControlOperation } from '../control.ts';
import { jsonResponse } from './api.ts';
import { readBody } from './request-body.ts';
import { respond } from './response.ts';

export const CONTROL_PATH = '/_sandbox';

/**
 * Serves the control operations at `POST /_sandbox/<name>`, only to this machine. The body is a JSON object.
 */
export async function serveControl(
  operations: Readonly<Record<string, Pick<ControlOperation<unknown, unknown>, 'runRaw'>>>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const send = (status: number, body: unknown) => respond(response, jsonResponse(status, body), []);
  const sendError = (status: number, message: string, hint?: string) =>
    send(status, { error: { code: 'CONTROL', message, hint } });
  // Accept only POST: a web page could make a browser send a GET without an Origin header, for example for an
  // image.
  if (request.method !== 'POST') return sendError(405, 'Use POST.');
  const objection = objectionTo(request);
  if (objection) return sendError(403, objection);
  const name = (request.url ?? '').slice(CONTROL_PATH.length + 1).split('?')[0] ?? '';
  const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (!operation) {
    const names = Object.keys(operations).join(', ');
    return sendError(404, `Unknown operation. Available operations: ${names}.`);
  }
  const body = await readBody(request);
  if (body === null) return sendError(400, 'The body is larger than 1 MiB.');
  const input = parse(body);
  if (input === undefined) return sendError(400, 'The body is not valid JSON.');
  try {
    const outcome = operation.runRaw(input);
    if ('problem' in outcome) return sendError(400, outcome.problem);
    send(200, (await outcome.result) ?? null);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    sendError(400, error.message, error.hint);
  }
}

/**
 * States why a request is rejected; undefined if it comes from this machine but not from a web page. Browsers
 * add an Origin header to every POST. A web page could also use a host name of its own that resolves to
 * loopback.
 */
function objectionTo(request: IncomingMessage): string | undefined {
  const address = request.socket.remoteAddress ?? '';
  const host = (request.headers.host ?? '').replace(/:\d+$/, '');
  if (!/^(::ffff:)?127\./.test(address) && address !== '::1')
    return 'Only clients on this machine may control the sandbox.';
  if (request.headers.origin !== undefined)
    return 'Web pages may not control the sandbox, so requests must not have an Origin header.';
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(host)
    ? undefined
    : 'Use localhost, 127.0.0.1 or [::1] as the host name.';
}

function parse(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
