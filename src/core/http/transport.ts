import { usageError } from '../../base/failure.ts';
import type { HttpRequest, Transport } from '../../contract/ports.ts';
import type { Addressed, exchange as exchangeOver } from './exchange.ts';
import type { Env } from './proxy-env.ts';
import type { Lines, Wiring } from './undici.ts';

/** Options of the HTTP transport. */
export interface TransportOptions {
  /** The environment; only its proxy variables are used. */
  readonly env?: Env | undefined;
  /** PEM certificates of authorities that are trusted instead of the built-in ones. */
  readonly ca?: readonly string[] | undefined;
  /** Timeout for establishing a connection. */
  readonly connectMs?: number | undefined;
  /** Maximum number of open connections per origin. */
  readonly connections?: number | undefined;
  /** Maximum size of a response. */
  readonly maxBytes?: number | undefined;
}

const CONNECT_MS = 10_000;
const CONNECTIONS = 10;
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Sends requests over keep-alive connections. To start fast, the HTTP client is loaded with the first
 * request, and its proxy support only if the environment configures a proxy.
 */
export function createTransport(options: TransportOptions = {}): Transport {
  const wiring: Wiring = {
    connections: options.connections ?? CONNECTIONS,
    connectMs: options.connectMs ?? CONNECT_MS,
    ca: options.ca,
  };
  const origins = new Map<string, Promise<Opened>>();

  function connectTo(origin: string): Promise<Opened> {
    let opened = origins.get(origin);
    if (!opened) {
      opened = open(origin, wiring, options.env ?? {});
      origins.set(origin, opened);
    }
    return opened;
  }

  return {
    async send(request, signal) {
      signal?.throwIfAborted();
      const addressed = address(request);
      const { lines, exchange } = await (request.isFresh
        ? open(addressed.origin, wiring, options.env ?? {})
        : connectTo(addressed.origin));
      try {
        signal?.throwIfAborted();
        return await exchange(lines, addressed, options.maxBytes ?? MAX_BYTES, signal);
      } finally {
        if (request.isFresh) lines.destroy().catch(() => {});
      }
    },
    async close() {
      const opened = [...origins.values()];
      origins.clear();
      await Promise.allSettled(opened.map(async (origin) => (await origin).lines.destroy()));
    },
  };
}

interface Opened {
  readonly lines: Lines;
  readonly exchange: typeof exchangeOver;
}

async function open(origin: string, wiring: Wiring, env: Env): Promise<Opened> {
  const { direct, exchange } = await import('./undici.ts');
  const proxy = wantsProxy(env) ? (await import('./proxy-env.ts')).proxyFor(new URL(origin), env) : undefined;
  const lines = proxy ? (await import('./proxy.ts')).viaProxy(proxy, wiring) : direct(origin, wiring);
  return { lines, exchange };
}

const wantsProxy = (env: Env) => Object.keys(env).some((name) => /^(https?|all)_proxy$/i.test(name));

/** Splits a URL without normalizing it. */
function address(request: HttpRequest): Addressed {
  const [, origin, path] = /^(https?:\/\/[^/?#\s]+)(\/[^#\s]*)?$/.exec(request.url) ?? [];
  if (!origin || !URL.canParse(origin))
    throw usageError('invalid URL: it must start with http:// or https://', 'check the base URL');
  return { ...request, origin, path: path ?? '/', host: new URL(origin).host };
}
