import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { Failure } from '../../base/failure.ts';
import { CLOSE_QUOTA } from '../../contract/frames.ts';
import { readServiceError } from '../../core/client/service-errors.ts';
import { broken, unreachable } from '../../core/http/network-failures.ts';
import { proxyFor } from '../../core/http/proxy-env.ts';
import type { Connect, Link, LinkEnd } from '../ports.ts';
import { createFrameQueue } from './frame-queue.ts';

/** Where the live feed is, and who listens. */
export interface SocketOptions {
  /** `ws` or `wss`, with the whole path. */
  readonly url: string;
  readonly key: string;
  readonly userAgent: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly clock?: Pick<Clock, 'sleep'>;
  /** Bytes of frames that may wait to be taken; past that the socket is closed, for it costs by the minute. */
  readonly maxHeld?: number;
}

const MAX_HELD = 8 * 1024 * 1024;
/** Past the first, the service is held up, until the second: a long queue is dear to keep. */
const FULL = 1024 * 1024;
const ROOM = 256 * 1024;
/** But no longer than so: pongs would be missed. */
const PAUSE_MS = 5_000;
/** More than any frame there is. */
const MAX_FRAME = 4 * 1024 * 1024;
const HANDSHAKE_MS = 15_000;
/** How long the service may take to answer a farewell. */
const FAREWELL_MS = 2_000;
/** Of a refused handshake's answer. */
const MAX_REFUSAL = 64 * 1024;
/** Ends of a connection that the other side had a part in, and so knows of. */
const MUTUAL = /^(ECONNRESET|EPIPE|WS_ERR_)/;

/** Opens the live feed: the only client of the socket. The key travels in a header and follows no redirect. */
export function createConnect(options: SocketOptions): Connect {
  const url = new URL(options.url);
  return async (stir, signal) => {
    const { WebSocket } = await import('ws');
    signal.throwIfAborted();
    const tunnel = await tunnelTo(url, options.env, signal);
    const opening: { sent: boolean } = { sent: false };
    const socket = new WebSocket(url, {
      headers: { authorization: `Bearer ${options.key}`, 'user-agent': options.userAgent },
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_MS,
      followRedirects: false,
      // As with every other call: no setting of Node's switches the check of certificates off.
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
    const link = linkOf(socket, stir, options.maxHeld ?? MAX_HELD, options.clock ?? systemClock);
    await opened(socket, url.host, opening, options.now, signal);
    return link;
  };
}

/** A socket as the tail sees it: frames are kept until they are taken. */
function linkOf(socket: Opening, stir: () => void, maxHeld: number, clock: Pick<Clock, 'sleep'>): Link {
  const queue = createFrameQueue();
  let signs = 0;
  let end: LinkEnd | undefined;
  let fault = '';
  let pause: AbortController | undefined;
  let mayPause = true;
  let farewell: Promise<boolean> | undefined;

  const over = (why: LinkEnd['why'], text: string, unheard = false) => {
    end ??= unheard ? { why, text, unheard } : { why, text };
    stir();
  };
  const sign = () => {
    signs++;
    stir();
  };
  const goOn = () => {
    pause?.abort();
    pause = undefined;
    socket.resume();
  };
  const onMessage = (data: unknown, isBinary: boolean) => {
    // The client is left at its default, which hands every frame over as one Buffer.
    if (end || farewell || !(data instanceof Buffer)) return;
    // Only a frame of text is known to be well-formed.
    queue.push(isBinary ? Buffer.from(data.toString('utf8')) : data);
    if (queue.held > maxHeld) {
      over('overflow', `more than ${maxHeld} bytes of frames wait`);
      socket.terminate();
    } else if (mayPause && queue.held > FULL) {
      mayPause = false;
      socket.pause();
      pause = new AbortController();
      clock.sleep(PAUSE_MS, pause.signal).then(goOn, () => {});
    }
    sign();
  };

  socket.on('ping', sign).on('pong', sign).on('message', onMessage);
  socket.on('error', (error) => {
    fault = 'code' in error && typeof error.code === 'string' ? error.code : '';
  });
  socket.on('close', (code, reason) => {
    pause?.abort();
    const text = `${code}${reason.length > 0 ? ` ${reason.toString('utf8').slice(0, 200)}` : ''}`;
    over(
      code === CLOSE_QUOTA ? 'quota' : code === 1006 ? 'reset' : 'closed',
      text,
      code === 1006 && fault !== '' && !MUTUAL.test(fault),
    );
  });

  return {
    next() {
      const frame = queue.next();
      if (!mayPause && queue.held < ROOM) {
        mayPause = true;
        if (pause) goOn();
      }
      return frame;
    },
    get held() {
      return queue.held;
    },
    get signs() {
      return signs;
    },
    get end() {
      return end;
    },
    send: (text) => socket.send(text, () => {}),
    ping() {
      if (socket.readyState === socket.OPEN) socket.ping(undefined, undefined, () => {});
    },
    close() {
      farewell ??= takeLeave(socket, clock, pause ? goOn : undefined);
      return farewell;
    },
  };
}

/** Closes in good order; settles with whether the service answered, so that it counts no further minute. */
function takeLeave(
  socket: Opening,
  clock: Pick<Clock, 'sleep'>,
  goOn: (() => void) | undefined,
): Promise<boolean> {
  if (socket.readyState !== socket.OPEN) {
    socket.terminate();
    return Promise.resolve(false);
  }
  return new Promise((resolve) => {
    const patience = new AbortController();
    clock.sleep(FAREWELL_MS, patience.signal).then(
      () => socket.terminate(),
      () => {},
    );
    socket.once('close', (code) => {
      patience.abort();
      resolve(code !== 1006);
    });
    goOn?.();
    socket.close(1000);
  });
}

type Opening = import('ws').WebSocket;

/** Settles with the handshake: a refusal of the service is read as any other of its answers. */
async function opened(
  socket: Opening,
  host: string,
  opening: { readonly sent: boolean },
  now: () => number,
  signal: AbortSignal,
): Promise<void> {
  // What was sent and not answered may have opened a connection over there.
  const failed = (error: unknown) => (opening.sent ? broken(host, error) : unreachable(host, error));
  let abort = () => {};
  try {
    await new Promise<void>((resolve, reject) => {
      abort = () => {
        reject(opening.sent ? failed(signal.reason) : signal.reason);
        socket.terminate();
      };
      signal.addEventListener('abort', abort, { once: true });
      socket.once('open', resolve);
      socket.on('error', (error) => reject(failed(error)));
      socket.once('unexpected-response', (_, answer) => {
        refusalOf(answer, host, now)
          .then(reject, reject)
          .finally(() => socket.terminate());
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
  return readServiceError({ status: answer.statusCode ?? 0, headers, text }, jsonOf(text), now()).failure;
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
  const { openTunnel } = await import('./proxy-tunnel.ts');
  return openTunnel(target, proxy, signal);
}
