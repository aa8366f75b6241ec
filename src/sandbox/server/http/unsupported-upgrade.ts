import type { IncomingMessage, Server } from 'node:http';

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
