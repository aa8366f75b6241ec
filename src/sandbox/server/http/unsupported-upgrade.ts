import type { IncomingMessage, Server } from 'node:http';

/** Whether a request asks for a WebSocket, and not for another protocol. */
export const wantsSocket = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';

/**
 * Serves a request that offers another protocol, as some clients do with every call (`Upgrade: h2c`): the
 * offer is passed over. Node takes its hands off a connection once anything is offered on it, so the request
 * goes back in without the offer, and the connection begins anew.
 */
export function passOver(server: Server, request: IncomingMessage, head: Buffer): void {
  const { socket, method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!/^(upgrade|connection|http2-settings)$/i.test(name)) lines.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}
