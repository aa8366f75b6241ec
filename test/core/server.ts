import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { cert, key } from './http/certificate.ts';

/** A server on loopback; `close` also closes its connections. */
export interface Served {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** An HTTP server made of one listener. */
export async function serve(listener: RequestListener, { tls = false } = {}): Promise<Served> {
  const server = tls ? createTlsServer({ cert, key }, listener) : createServer(listener);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

/** A bare TCP server, for responses that no HTTP server would send. */
export async function serveRaw(onConnection: (socket: Socket) => void): Promise<Served> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    onConnection(socket);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
