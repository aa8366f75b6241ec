import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocketServer } from 'ws';
import { SOCKET_PATH } from '../../contract/endpoints.ts';
import { insteadOfUpgrade } from '../faults/effects.ts';
import { ApiError, errorResponse, type HttpResponse } from '../http/response.ts';
import { admit, keyIn } from '../http/serve.ts';
import { type Key, shortageOf } from '../keys.ts';
import { addToLog, nextId, type SandboxState } from '../state.ts';
import { ClientConnection, socketMinute } from './connection.ts';

let loading: Promise<WebSocketServer> | undefined;

/**
 * The WebSocket server of all sandboxes, which is loaded on first use: many runs need no WebSocket.
 */
function webSockets(): Promise<WebSocketServer> {
  loading ??= import('ws').then(
    ({ WebSocketServer: Server }) =>
      new Server({ noServer: true, maxPayload: 1024 * 1024, clientTracking: false }),
  );
  return loading;
}

export const isForSocket = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';

export async function serveUpgrade(
  sandbox: SandboxState,
  server: Server,
  request: IncomingMessage,
  head: Buffer,
): Promise<void> {
  const { socket: raw, headers } = request;
  if (!isForSocket(request)) return serveWithoutUpgrade(server, request, head);
  const requestId = nextId(sandbox, 'req');
  raw.on('error', () => raw.destroy());
  const record = (status: number, cu: number) =>
    addToLog(sandbox, { requestId, path: SOCKET_PATH, endpoint: 'ws', status, cu });
  const deny = (response: HttpResponse) => {
    record(response.status, 0);
    rejectHandshake(raw, response);
  };
  const wss = await webSockets();
  let key: Key;
  try {
    const [path, query] = (request.url ?? '').split('?');
    if (path !== SOCKET_PATH) throw new ApiError('NOT_FOUND');
    // The description names only the header Authorization for the socket.
    key = admit(sandbox, raw, keyIn(headers), 'feed:live');
    if (query) throw new ApiError('VALIDATION_ERROR', 'The socket has no parameters.');
    const instead = insteadOfUpgrade(sandbox.faults.trigger('call', 'ws'));
    if (instead) return deny(instead);
    const shortage = shortageOf(key, socketMinute, sandbox.clock.now());
    if (shortage) throw new ApiError(shortage);
  } catch (error) {
    if (error instanceof ApiError) return deny(errorResponse(error));
    throw error;
  }
  // Respond with an error of the service instead of the plain-text error of ws.
  const onInvalid = ({ message }: Error) =>
    deny(errorResponse(new ApiError('BAD_REQUEST', `${message}.`)));
  wss.on('wsClientError', onInvalid);
  const charged = (cu: number) => record(101, cu);
  wss.handleUpgrade(request, raw, head, (ws) => {
    charged(0);
    new ClientConnection(sandbox, key, ws, raw, charged).open();
  });
  wss.off('wsClientError', onInvalid);
}

function rejectHandshake(raw: Socket, { status, text, headers }: HttpResponse): void {
  const all = { ...headers, 'content-length': Buffer.byteLength(text), connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  raw.end([`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', text].join('\r\n'));
}

/**
 * Serves an upgrade to another protocol as an ordinary call: some clients send `Upgrade: h2c` with
 * every one. Node stops parsing a connection after any upgrade request, so it gets the request
 * again, without those headers.
 */
function serveWithoutUpgrade(server: Server, request: IncomingMessage, head: Buffer): void {
  const { socket, method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!/^(upgrade|connection|http2-settings)$/i.test(name))
      lines.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}
