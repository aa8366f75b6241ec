import { usageError } from '../../base/failure.ts';
import type { HttpRequest, Transport } from '../../contract/ports/transport.ts';
import type { Addressed, Lines, Wiring } from './exchange.ts';

const CONNECT_MS = 10_000;
const CONNECTIONS = 10;
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * To start fast, the HTTP client is loaded with the first request, and its proxy support only for a
 * proxy.
 */
export function createTransport(
  /** Only the proxy variables are used. */
  env: Readonly<Record<string, string | undefined>>,
  { maxBytes = MAX_BYTES, ...limits }: Partial<Wiring> & { readonly maxBytes?: number } = {},
): Transport {
  const wiring: Wiring = {
    connections: CONNECTIONS,
    connectMs: CONNECT_MS,
    ca: undefined,
    ...limits,
  };
  const origins = new Map<string, Promise<Lines>>();

  async function open(origin: string): Promise<Lines> {
    const wantsProxy = Object.keys(env).some((name) => /^(https?|all)_proxy$/i.test(name));
    const proxy = wantsProxy
      ? (await import('./proxy-env.ts')).proxyFor(new URL(origin), env)
      : undefined;
    if (proxy) return (await import('./proxy.ts')).viaProxy(proxy, wiring);
    return (await import('./exchange.ts')).direct(origin, wiring);
  }

  return {
    async send(request, signal) {
      signal?.throwIfAborted();
      const addressed = address(request);
      const { origin } = addressed;
      const opened = (!request.isFresh && origins.get(origin)) || open(origin);
      if (!request.isFresh) origins.set(origin, opened);
      const lines = await opened;
      const { exchange } = await import('./exchange.ts');
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
      await Promise.allSettled(opened.map(async (lines) => (await lines).destroy()));
    },
  };
}

function address(request: HttpRequest): Addressed {
  const [, origin, path] = /^(https?:\/\/[^/?#\s]+)(\/[^#\s]*)?$/.exec(request.url) ?? [];
  if (!origin || !URL.canParse(origin))
    throw usageError('invalid URL: it must start with http:// or https://', 'check the base URL');
  return { ...request, origin, path: path ?? '/', host: new URL(origin).host };
}
