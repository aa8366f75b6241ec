import type { ServerResponse } from 'node:http';
import { driftText } from '../../faults/drift.ts';
import type { TriggeredFault } from '../../faults/engine.ts';

/** A response, ready to send. */
export interface HttpResponse {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const HTML = '<!doctype html><html><head><title>Bad Gateway</title></head><body>502</body></html>';

/** The HTML error page of a gateway. */
export const gatewayPage = (status: number): HttpResponse => ({
  status,
  text: HTML.replaceAll('502', String(status)),
  headers: { 'content-type': 'text/html; charset=utf-8' },
});

/** Closes a connection with a TCP reset. */
export const resetConnection = (response: ServerResponse) => response.socket?.resetAndDestroy();

/** Sends a response, after applying the faults that change responses. */
export function respond(
  to: ServerResponse,
  response: HttpResponse,
  triggered: readonly TriggeredFault[],
): void {
  const has = (kind: string) => triggered.some(({ fault }) => fault.kind === kind);
  const drift = triggered.find(({ fault }) => fault.kind === 'drift');
  if (to.destroyed) return;
  if (has('lost')) return void resetConnection(to);
  const sent = has('html')
    ? { ...gatewayPage(502), status: 200 }
    : has('shape')
      ? { ...response, text: '{"surprise":[1,2,3],"count":"many"}' }
      : drift && response.status < 300
        ? { ...response, text: driftText(response.text, drift.random) }
        : response;
  const body = Buffer.from(sent.text);
  to.writeHead(sent.status, { ...response.headers, ...sent.headers, 'content-length': body.length });
  if (!has('cut')) return void to.end(body);
  to.write(body.subarray(0, body.length >> 1), () => to.socket?.destroy());
}
