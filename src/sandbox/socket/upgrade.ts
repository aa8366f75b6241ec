import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocketServer } from 'ws';
import { SOCKET_PATH } from '../../contract/endpoints.ts';
import { admit } from '../http/admission.ts';
import {
  type ApiError,
  apiError,
  errorResponse,
  gatewayPage,
  type HttpResponse,
  simulatedError,
  splitTarget,
} from '../http/response.ts';
import { type Key, shortageOf } from '../keys.ts';
import { addToLog, nextId, type SandboxState } from '../state.ts';
import { openConnection, socketMinute } from './connection.ts';

let loading: Promise<WebSocketServer> | undefined;

/** The WebSocket server of all sandboxes, which is loaded on first use: many runs need no WebSocket. */
function webSockets(): Promise<WebSocketServer> {
  loading ??= import('ws').then(
    ({ WebSocketServer: Server }) =>
      new Server({ noServer: true, maxPayload: 1024 * 1024, clientTracking: false }),
  );
  return loading;
}

/** Accepts a connection to the live feed, or rejects the handshake with a plain HTTP response. */
export async function serveUpgrade(
  sandbox: SandboxState,
  request: IncomingMessage,
  raw: Socket,
  head: Buffer,
): Promise<void> {
  const requestId = nextId(sandbox, 'req');
  raw.on('error', () => raw.destroy());
  const record = (status: number, cu: number) =>
    addToLog(sandbox, { requestId, path: SOCKET_PATH, endpoint: 'ws', status, cu });
  const deny = (refusal: ApiError | HttpResponse) => {
    const response = 'code' in refusal ? errorResponse(refusal, requestId) : refusal;
    record(response.status, 0);
    rejectHandshake(raw, response);
  };
  const wss = await webSockets();
  const admitted = admitSocket(sandbox, request, raw.remoteAddress ?? '');
  if ('error' in admitted) return deny(admitted.error);
  // Respond with an error of the service instead of the plain-text error of ws.
  const onInvalid = ({ message }: Error) => deny(apiError('BAD_REQUEST', `${message}.`));
  wss.on('wsClientError', onInvalid);
  const charged = (cu: number) => record(101, cu);
  wss.handleUpgrade(request, raw, head, (ws) => {
    charged(0);
    openConnection(sandbox, admitted.key, ws, raw, charged);
  });
  wss.off('wsClientError', onInvalid);
}

function admitSocket(
  sandbox: SandboxState,
  request: IncomingMessage,
  ip: string,
): { readonly key: Key } | { readonly error: ApiError | HttpResponse } {
  if (splitTarget(request.url)[0] !== SOCKET_PATH) return { error: apiError('NOT_FOUND') };
  const admitted = admit(sandbox, request.headers, ip, 'feed:live');
  if ('error' in admitted) return admitted;
  for (const { kind, code, status, ms } of sandbox.faults.trigger('call', 'ws')) {
    if (kind === 'gateway') return { error: gatewayPage(status) };
    if (code) return { error: simulatedError(code, ms) };
  }
  const shortage = shortageOf(admitted.key, socketMinute, sandbox.clock.now());
  return shortage ? { error: apiError(shortage) } : admitted;
}

function rejectHandshake(raw: Socket, { status, text, headers }: HttpResponse): void {
  const all = { ...headers, 'content-length': Buffer.byteLength(text), connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  raw.end([`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', text].join('\r\n'));
}

/** Whether a request asks for an upgrade to WebSocket, and not to another protocol. */
export const isWebSocketUpgrade = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';

/**
 * Serves a request for an upgrade to another protocol as an ordinary request, because some clients send
 * `Upgrade: h2c` with every call. Node stops parsing a connection after any upgrade request, so the request
 * is passed to Node again without its upgrade headers.
 */
export function serveWithoutUpgrade(server: Server, request: IncomingMessage, head: Buffer): void {
  const { socket, method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!/^(upgrade|connection|http2-settings)$/i.test(name)) lines.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}
