import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Failure } from '../contract/failure.ts';
import { CLOSE_QUOTA } from '../contract/frames.ts';
import { proxyFor } from '../core/proxy-env.ts';
import { readRefusal } from '../core/service-failures.ts';
import { broken, unreachable } from '../core/transport-failures.ts';
import type { Connect, Link, LinkEnd } from './ports.ts';

export interface SocketOptions {
  /** `ws` or `wss`, with the whole path. */
  readonly url: string;
  readonly key: string;
  readonly userAgent: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  /** Bytes of frames that may wait to be taken; past that the socket is closed, for it costs by the minute. */
  readonly maxHeld?: number;
}

const MAX_HELD = 16 * 1024 * 1024;
/** More than any frame there is. */
const MAX_FRAME = 4 * 1024 * 1024;
const HANDSHAKE_MS = 15_000;
/** Of a refused handshake's answer. */
const MAX_REFUSAL = 64 * 1024;

/** Opens the live feed: the only client of the socket. The key travels in a header and follows no redirect. */
export function createConnect(options: SocketOptions): Connect {
  const url = new URL(options.url);
  return async (stir, signal) => {
    const { WebSocket } = await import('ws');
    signal.throwIfAborted();
    const tunnel = await tunnelTo(url, options.env, signal);
    const socket = new WebSocket(url, {
      headers: { authorization: `Bearer ${options.key}`, 'user-agent': options.userAgent },
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_MS,
      followRedirects: false,
      maxPayload: MAX_FRAME,
      ...(tunnel && { createConnection: () => tunnel }),
    });
    const frames: Uint8Array[] = [];
    let first = 0;
    let held = 0;
    let signs = 0;
    let end: LinkEnd | undefined;
    const over = (why: LinkEnd['why'], text: string) => {
      end ??= { why, text };
      stir();
    };
    const sign = () => {
      signs++;
      stir();
    };
    const link: Link = {
      next() {
        const frame = frames[first];
        if (frame === undefined) return undefined;
        first++;
        held -= frame.byteLength;
        if (first === frames.length) {
          frames.length = 0;
          first = 0;
        }
        return frame;
      },
      get held() {
        return held;
      },
      get signs() {
        return signs;
      },
      get end() {
        return end;
      },
      send: (text) => socket.send(text, () => {}),
      close() {
        if (socket.readyState === WebSocket.OPEN) socket.close(1000);
        // The service may be gone: its farewell is not waited for.
        socket.terminate();
      },
    };
    socket.on('ping', sign).on('pong', sign);
    socket.on('message', (data) => {
      // The client is left at its default, which hands every frame over as one Buffer.
      if (!(data instanceof Buffer)) return;
      frames.push(data);
      held += data.byteLength;
      if (held > (options.maxHeld ?? MAX_HELD)) {
        over('overflow', `more than ${held} bytes of frames wait`);
        socket.terminate();
      }
      sign();
    });
    socket.on('close', (code, reason) => {
      const text = `${code}${reason.length > 0 ? ` ${reason.toString('utf8').slice(0, 200)}` : ''}`;
      over(code === CLOSE_QUOTA ? 'quota' : code === 1006 ? 'reset' : 'closed', text);
    });
    await opened(socket, url.host, options.now, signal);
    return link;
  };
}

type Opening = import('ws').WebSocket;

/** Settles with the handshake: a refusal of the service is read as any other of its answers. */
async function opened(socket: Opening, host: string, now: () => number, signal: AbortSignal): Promise<void> {
  const abort = () => socket.terminate();
  try {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', abort, { once: true });
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      socket.once('open', resolve);
      socket.on('error', (error) => reject(unreachable(host, error)));
      socket.once('unexpected-response', (_, answer) => {
        refusalOf(answer, host, now).then(reject, reject).finally(abort);
      });
    });
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function refusalOf(answer: IncomingMessage, host: string, now: () => number): Promise<Failure> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of answer) {
      parts.push(part);
      bytes += part.length;
      if (bytes > MAX_REFUSAL) break;
    }
  } catch (error) {
    return broken(host, error);
  }
  const text = Buffer.concat(parts).toString('utf8');
  const headers = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [name, String(value)]),
  );
  return readRefusal({ status: answer.statusCode ?? 0, headers, text }, jsonOf(text), now()).failure;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A connection through the proxy that the environment names, or none where it names none. */
async function tunnelTo(
  url: URL,
  env: SocketOptions['env'],
  signal: AbortSignal,
): Promise<Duplex | undefined> {
  const target = new URL(url);
  target.protocol = url.protocol === 'wss:' ? 'https:' : 'http:';
  const proxy = proxyFor(target, env);
  if (!proxy) return undefined;
  const { openTunnel } = await import('./tunnel.ts');
  return openTunnel(target, proxy, signal);
}
