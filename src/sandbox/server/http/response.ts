import type { ServerResponse } from 'node:http';
import type { Strike } from '../../faults/engine.ts';

/** An answer, ready to be written. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const HTML = '<!doctype html><html><head><title>Bad Gateway</title></head><body>502</body></html>';

/** An error page such as a gateway shows: no JSON, no code. */
export const gatewayPage = (status: number): Answer => ({
  status,
  text: HTML.replaceAll('502', String(status)),
  headers: { 'content-type': 'text/html; charset=utf-8' },
});

/** Breaks a connection without a goodbye. */
export const reset = (response: ServerResponse) => response.socket?.resetAndDestroy();

/** Writes an answer, spoilt by what strikes after the work is done. */
export function respond(response: ServerResponse, answer: Answer, strikes: readonly Strike[]): void {
  const has = (kind: string) => strikes.some(({ what }) => what.kind === kind);
  if (response.destroyed) return;
  if (has('lost')) return void reset(response);
  const spoilt = has('html')
    ? { ...gatewayPage(502), status: 200 }
    : has('shape')
      ? { ...answer, text: '{"surprise":[1,2,3],"count":"many"}' }
      : answer;
  const body = Buffer.from(spoilt.text);
  response.writeHead(spoilt.status, { ...answer.headers, ...spoilt.headers, 'content-length': body.length });
  if (!has('cut')) return void response.end(body);
  response.write(body.subarray(0, body.length >> 1), () => response.socket?.destroy());
}
