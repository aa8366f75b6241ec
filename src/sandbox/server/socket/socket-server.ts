import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocketServer } from 'ws';
import { SOCKET_PATH } from '../../../contract/endpoints.ts';
import { type ErrorCode, errorCodes } from '../../../contract/errors.ts';
import type { Key } from '../../keys/key.ts';
import { jsonResponse, splitTarget } from '../http/api.ts';
import { type ApiError, apiError, apiErrorBody } from '../http/api-error.ts';
import { gatewayPage, type HttpResponse } from '../http/response.ts';
import type { SandboxParts } from '../parts.ts';
import type { LogEntry } from '../request-log.ts';
import { openingPrice } from './billing.ts';
import { type Disconnect, openConnection, type SocketConnection } from './connection.ts';

/** Accepts WebSocket connections to the live feed. */
export interface SocketServer {
  upgrade(request: IncomingMessage, raw: Socket, head: Buffer): Promise<void>;
  readonly connections: readonly SocketConnection[];
  /** Ends all open connections, or makes them silent. */
  disconnect(how: Disconnect, code?: number): void;
  /** Closes all connections, including silent ones. */
  destroy(): void;
}

export function createSocketServer(parts: SandboxParts): SocketServer {
  const { settings, clock, faults, feed, admission, log, nextId } = parts;
  const connections = new Set<SocketConnection>();
  const rawSockets = new Set<Socket>();
  let loading: Promise<WebSocketServer> | undefined;
  const server = () => {
    // Load ws on first use, so that a sandbox without WebSockets starts faster.
    loading ??= import('ws').then(({ WebSocketServer }) => {
      const wss = new WebSocketServer({ noServer: true, maxPayload: 1024 * 1024, clientTracking: false });
      // Respond with an error of the service instead of the plain-text error of ws.
      wss.on('wsClientError', ({ message }, raw: Socket) => {
        deny(raw, rejectWith(apiError('BAD_REQUEST', `${message}.`)), nextId('req'));
      });
      return wss;
    });
    return loading;
  };
  feed.listen((post) => {
    for (const connection of connections) connection.offer(post);
  });

  const reject = (code: ErrorCode, retryAfter?: number): Rejection =>
    rejectWith(apiError(code, undefined, retryAfter));
  const rejectWith = (error: ApiError): Rejection => ({
    code: error.code,
    response: jsonResponse(errorCodes[error.code].status, apiErrorBody(error, settings.retryAfter)),
  });

  function admit(request: IncomingMessage, ip: string): { key: Key } | Rejection {
    if (splitTarget(request.url ?? '')[0] !== SOCKET_PATH) return reject('NOT_FOUND');
    const admitted = admission.admit(request.headers, ip, 'feed:live');
    if ('error' in admitted) return rejectWith(admitted.error);
    for (const { fault, ms } of faults.trigger('call', 'ws')) {
      if (fault.kind !== 'answer') continue;
      if ('gateway' in fault.answer) return { code: null, response: gatewayPage(fault.answer.gateway) };
      const { code } = fault.answer;
      return reject(code, code === 'RATE_LIMITED' ? Math.max(1, Math.ceil(ms / 1000)) : undefined);
    }
    const shortage = admitted.key.meter.shortage(openingPrice(settings.socketBilling));
    return shortage ? reject(shortage) : admitted;
  }

  const addToLog = (line: Pick<LogEntry, 'requestId' | 'key' | 'ip' | 'status' | 'code' | 'cu'>) =>
    log.add({
      ...line,
      time: clock.now(),
      method: 'GET',
      path: SOCKET_PATH,
      endpoint: 'ws',
      reveals: 0,
      ms: 0,
    });

  function deny(raw: Socket, { response, code }: Rejection, requestId: string): void {
    const { status } = response;
    addToLog({ requestId, key: null, ip: raw.remoteAddress ?? '', status, code, cu: 0 });
    rejectHandshake(raw, response, requestId);
  }

  return {
    async upgrade(request, raw, head) {
      const ip = raw.remoteAddress ?? '';
      const requestId = nextId('req');
      raw.on('error', () => raw.destroy());
      const wss = await server();
      const admitted = admit(request, ip);
      if ('response' in admitted) return deny(raw, admitted, requestId);
      const record = (cu: number) =>
        addToLog({ requestId, ip, key: admitted.key.id, status: 101, code: null, cu });
      wss.handleUpgrade(request, raw, head, (ws) => {
        rawSockets.add(raw);
        raw.once('close', () => rawSockets.delete(raw));
        record(0);
        const connection = openConnection({
          id: nextId('ws'),
          key: admitted.key,
          ws,
          raw,
          clock,
          faults,
          billing: settings.socketBilling,
          pingMs: settings.pingMs,
          charged: record,
          ended: () => connections.delete(connection),
        });
        connections.add(connection);
      });
    },
    get connections() {
      return [...connections];
    },
    disconnect(how, code) {
      for (const connection of [...connections]) connection.disconnect(how, code);
    },
    destroy() {
      for (const connection of [...connections]) connection.disconnect('drop');
      for (const raw of rawSockets) raw.destroy();
    },
  };
}

/** The response to a handshake that is rejected. */
interface Rejection {
  readonly code: ErrorCode | null;
  readonly response: HttpResponse;
}

/** Rejects a handshake with a plain HTTP response. */
function rejectHandshake(raw: Socket, { status, text, headers }: HttpResponse, requestId: string): void {
  const lines = Object.entries({
    ...headers,
    'content-length': Buffer.byteLength(text),
    'x-request-id': requestId,
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  raw.end([`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', text].join('\r\n'));
}
