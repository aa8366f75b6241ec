import { type ErrorCode, errorCodes } from '../../contract/errors.ts';

/**
 * An error response. The message is the documented meaning of the code, unless another message is
 * given.
 */
export class ApiError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string = errorCodes[code].meaning,
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

export interface HttpResponse {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

export const jsonResponse = (
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): HttpResponse => ({
  status,
  text: JSON.stringify(body),
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
});

export const errorResponse = ({ code, message, retryAfter }: ApiError): HttpResponse =>
  jsonResponse(errorCodes[code].status, { error: { code, message }, retryAfter });

export const gatewayPage = (status = 502): HttpResponse => ({
  status,
  text: `<!doctype html><html><head><title>Bad Gateway</title></head><body>${status}</body></html>`,
  headers: { 'content-type': 'text/html; charset=utf-8' },
});
