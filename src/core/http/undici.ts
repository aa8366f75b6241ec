import { setFlagsFromString } from 'node:v8';
import type { Dispatcher } from 'undici';
import Client from 'undici/lib/dispatcher/client.js';

// In one piece with what makes the connections: each further file costs a start.
export { exchange } from './exchange.ts';

// The parser is WebAssembly. Optimising it in the background holds the process open for some 80 ms at its
// end, and a command-line client never parses enough to earn that back.
setFlagsFromString('--liftoff-only');
// Code that is kept carries the flags that stand at the end, and a run that begins with others has no use for
// it: the flag is taken back, with the two that it brought along.
process.prependOnceListener('exit', () => {
  for (const flag of ['--no-liftoff-only', '--wasm-tier-up', '--wasm-dynamic-tiering'])
    setFlagsFromString(flag);
});

/** What a transport needs of undici. */
export type Lines = Pick<Dispatcher, 'dispatch'> & { destroy(): Promise<unknown> };

/** How connections are made. */
export interface Wiring {
  readonly connections: number;
  readonly connectMs: number;
  readonly ca: readonly string[] | undefined;
}

/** TLS and time limit of a connection. */
export const connectOptions = ({ ca, connectMs }: Wiring) => ({
  ...(ca ? { ca: [...ca] } : {}),
  // Whatever NODE_TLS_REJECT_UNAUTHORIZED says: a key goes over this line.
  rejectUnauthorized: true,
  timeout: connectMs,
});

/** Time is kept by the transport, per request: undici's own limits are switched off. */
export const noLimits = { headersTimeout: 0, bodyTimeout: 0 } as const;

/**
 * Connections straight to an origin. An idle one is always taken before another is opened; undici's own
 * pool takes one that has just answered for busy, so that a second request would shake hands anew.
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
      const client = idle.pop() ?? (clients.length < wiring.connections ? open() : undefined);
      if (client) return start(client);
      waiting.push(start);
      return false;
    },
    destroy: () => Promise.all(clients.map((client) => client.destroy())),
  };
}

/** A handler that also says when its request is over. */
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
