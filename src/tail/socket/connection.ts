import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '../../base/clock.ts';
import { headerOfKey, type KeyHeader } from '../../core/client/channel.ts';
import { createByteMask } from '../../core/client/mask-key.ts';
import { proxyFor } from '../../core/http/proxy-env.ts';
import type { Connect } from '../ports.ts';
import { opened } from './handshake.ts';
import { SocketLink } from './socket-link.ts';

export interface SocketOptions {
  /** A `ws:` or `wss:` URL with the complete path. */
  readonly url: string;
  readonly key: string;
  readonly keyHeader?: KeyHeader | undefined;
  readonly userAgent: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly clock?: Pick<Clock, 'sleep'>;
  /**
   * The maximum size of the queue in bytes. A fuller queue closes the WebSocket: it is charged by
   * the minute, and must not wait for a slow output.
   */
  readonly maxHeld?: number;
}

const MAX_HELD = 8 * 1024 * 1024;
const MAX_FRAME = 4 * 1024 * 1024;
const HANDSHAKE_MS = 15_000;

/** Connects to the live feed, with the key in a header and without following redirects. */
export function createConnect(options: SocketOptions): Connect {
  const url = new URL(options.url);
  return async (onChange, signal) => {
    const { WebSocket } = await import('ws');
    signal.throwIfAborted();
    const tunnel = await tunnelTo(url, options.env, signal);
    const opening: { sent: boolean } = { sent: false };
    const socket = new WebSocket(url, {
      headers: {
        // The service describes only `Authorization` for the WebSocket.
        ...headerOfKey(options.key),
        ...headerOfKey(options.key, options.keyHeader),
        'user-agent': options.userAgent,
      },
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_MS,
      followRedirects: false,
      // Always verify certificates, whatever NODE_TLS_REJECT_UNAUTHORIZED says.
      rejectUnauthorized: true,
      maxPayload: MAX_FRAME,
      finishRequest(request) {
        request.once('finish', () => {
          opening.sent = true;
        });
        request.end();
      },
      ...(tunnel && { createConnection: () => tunnel }),
    });
    const link = new SocketLink(socket, onChange, {
      mask: createByteMask(options.key),
      maxHeld: options.maxHeld ?? MAX_HELD,
      clock: options.clock ?? systemClock,
    });
    await opened(socket, url.host, opening, options.now, signal);
    return link;
  };
}

/**
 * A connection through the proxy that the environment configures; undefined if no proxy is
 * configured.
 */
async function tunnelTo(
  url: URL,
  env: SocketOptions['env'],
  signal: AbortSignal,
): Promise<Duplex | undefined> {
  const target = new URL(url);
  target.protocol = url.protocol === 'wss:' ? 'https:' : 'http:';
  const proxy = proxyFor(target, env);
  if (!proxy) return undefined;
  const { openTunnel } = await import('./proxy-tunnel.ts');
  return openTunnel(target, proxy, signal);
}
