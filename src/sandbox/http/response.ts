import type { ServerResponse } from 'node:http';
import { type ErrorCode, errorCodes } from '../../contract/errors.ts';
import { driftText, faultIn, type TriggeredFault } from '../faults/engine.ts';

/** An error response. The message is the documented meaning of the code, unless another message is given. */
export class ApiError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string = errorCodes[code].meaning,
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

export const simulatedError = (code: ErrorCode, ms: number): ApiError =>
  new ApiError(
    code,
    undefined,
    code === 'RATE_LIMITED' ? Math.max(1, Math.ceil(ms / 1_000)) : undefined,
  );

export interface HttpResponse {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

export const jsonResponse = (
  status: number,
  body: unknown,
  headers: Record<string, string>,
): HttpResponse => ({
  status,
  text: JSON.stringify(body),
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
});

export function errorResponse(
  { code, message, retryAfter }: ApiError,
  requestId: string,
): HttpResponse {
  const body = { error: { code, message }, retryAfter };
  return jsonResponse(errorCodes[code].status, body, { 'x-request-id': requestId });
}

export const gatewayPage = (status = 502): HttpResponse => ({
  status,
  text: `<!doctype html><html><head><title>Bad Gateway</title></head><body>${status}</body></html>`,
  headers: { 'content-type': 'text/html; charset=utf-8' },
});

export function respond(
  to: ServerResponse,
  response: HttpResponse,
  triggered: readonly TriggeredFault[],
): void {
  const has = (kind: string) => faultIn(triggered, kind) !== undefined;
  const drift = faultIn(triggered, 'drift');
  if (to.destroyed) return;
  if (has('lost')) return void to.socket?.resetAndDestroy();
  let { status, text, headers } = response;
  if (has('html')) ({ status, text, headers } = { ...gatewayPage(), status: 200 });
  else if (has('shape')) text = '{"surprise":[1,2,3],"count":"many"}';
  else if (drift && status < 300) text = driftText(text, drift.random);
  const body = Buffer.from(text);
  to.writeHead(status, { ...response.headers, ...headers, 'content-length': body.length });
  if (!has('cut')) return void to.end(body);
  to.write(body.subarray(0, body.length >> 1), () => to.socket?.destroy());
}
