import { usageError } from '../../base/failure.ts';
import type { HttpRequest, Transport } from '../../contract/ports.ts';
import type { Addressed, exchange as exchangeOver } from './exchange.ts';
import type { Env } from './proxy-env.ts';
import type { Lines, Wiring } from './undici.ts';

const CONNECT_MS = 10_000;
const CONNECTIONS = 10;
const MAX_BYTES = 64 * 1024 * 1024;

/** To start fast, the HTTP client is loaded with the first request, and its proxy support only for a proxy. */
export function createTransport(
  /** Only the proxy variables are used. */
  env: Env,
  { maxBytes = MAX_BYTES, ...given }: Partial<Wiring> & { readonly maxBytes?: number } = {},
): Transport {
  const wiring: Wiring = { connections: CONNECTIONS, connectMs: CONNECT_MS, ca: undefined, ...given };
  const origins = new Map<string, Promise<Opened>>();

  function connectTo(origin: string): Promise<Opened> {
    const opened = origins.get(origin) ?? open(origin, wiring, env);
    origins.set(origin, opened);
    return opened;
  }

  return {
    async send(request, signal) {
      signal?.throwIfAborted();
      const addressed = address(request);
      const { lines, exchange } = await (request.isFresh
        ? open(addressed.origin, wiring, env)
        : connectTo(addressed.origin));
      try {
        signal?.throwIfAborted();
        return await exchange(lines, addressed, maxBytes, signal);
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

function address(request: HttpRequest): Addressed {
  const [, origin, path] = /^(https?:\/\/[^/?#\s]+)(\/[^#\s]*)?$/.exec(request.url) ?? [];
  if (!origin || !URL.canParse(origin))
    throw usageError('invalid URL: it must start with http:// or https://', 'check the base URL');
  return { ...request, origin, path: path ?? '/', host: new URL(origin).host };
}
