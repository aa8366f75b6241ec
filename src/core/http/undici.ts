import { setFlagsFromString } from 'node:v8';
import type { Dispatcher } from 'undici';
import Client from 'undici/lib/dispatcher/client.js';

// Re-exported so that both modules are in one bundle: each additional file takes time to load.
export { exchange } from './exchange.ts';

// undici's parser is WebAssembly, which V8 optimizes in the background. The optimization delays the exit of
// the process by about 80 ms, and a command-line client parses too little to benefit from it.
setFlagsFromString('--liftoff-only');
// V8 rejects a code cache that was written under other flags. Before the cache is written at exit, reset this
// flag and the two flags that it implies.
process.prependOnceListener('exit', () => {
  for (const flag of ['--no-liftoff-only', '--wasm-tier-up', '--wasm-dynamic-tiering'])
    setFlagsFromString(flag);
});

export type Lines = Pick<Dispatcher, 'dispatch'> & { destroy(): Promise<unknown> };

export interface Wiring {
  readonly connections: number;
  readonly connectMs: number;
  readonly ca: readonly string[] | undefined;
}

export const connectOptions = ({ ca, connectMs }: Wiring) => ({
  ...(ca ? { ca: [...ca] } : {}),
  // Ignore NODE_TLS_REJECT_UNAUTHORIZED: the key is sent over this connection.
  rejectUnauthorized: true,
  timeout: connectMs,
});

/**
 * Disables undici's timeouts, because the transport has a timeout for the whole request. Allows larger
 * headers than Node does (16 KB), because a response that is rejected for its headers may have been paid for.
 */
export const noLimits = { headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 256 * 1024 } as const;

/**
 * Direct connections to an origin. An idle connection is reused before a new one is opened. undici's own pool
 * treats a connection that has just received a response as busy, so that a second request would need another
 * TLS handshake.
 */
export function direct(origin: string, wiring: Wiring): Lines {
  const clients: Lines[] = [];
  const idle: Lines[] = [];
  const waiting: ((client: Lines) => void)[] = [];

  const open = (): Lines => {
    const client = new Client(origin, { ...noLimits, connect: connectOptions(wiring) });
    clients.push(client);
    return client;
  };
  const release = (client: Lines) => {
    const next = waiting.shift();
    if (next) next(client);
    else idle.push(client);
  };

  return {
    dispatch(options, handler) {
      const start = (client: Lines) =>
        client.dispatch(
          options,
          ending(handler, () => release(client)),
        );
      const used = idle.pop();
      // The server may have closed this connection together with its last response. Let Node notice this
      // first: a request that is sent over a closed connection counts as lost, and may have been charged.
      if (used) setImmediate(start, used);
      else if (clients.length < wiring.connections) start(open());
      else waiting.push(start);
      return true;
    },
    destroy: () => Promise.all(clients.map((client) => client.destroy())),
  };
}

function ending(handler: Dispatcher.DispatchHandler, over: () => void): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onResponseStart: (controller, status, headers) => handler.onResponseStart?.(controller, status, headers),
    onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
    onResponseEnd: (controller, trailers) => {
      over();
      handler.onResponseEnd?.(controller, trailers);
    },
    onResponseError: (controller, error) => {
      over();
      handler.onResponseError?.(controller, error);
    },
  };
}
