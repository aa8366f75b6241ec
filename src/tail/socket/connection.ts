import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '../../base/clock.ts';
import { CLOSE_QUOTA } from '../../contract/frames.ts';
import { createByteMask } from '../../core/client/mask-key.ts';
import { proxyFor } from '../../core/http/proxy-env.ts';
import type { Connect, Link, LinkEnd } from '../ports.ts';
import { type Opening, opened } from './handshake.ts';

export interface SocketOptions {
  /** A `ws:` or `wss:` URL with the complete path. */
  readonly url: string;
  readonly key: string;
  readonly userAgent: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly clock?: Pick<Clock, 'sleep'>;
  /** In bytes. A fuller queue closes the WebSocket: it is charged by the minute, and must not wait for a slow output. */
  readonly maxHeld?: number;
}

const MAX_HELD = 8 * 1024 * 1024;
/** In bytes of the queue: reading pauses above the first size, and resumes below the second. */
const PAUSE_ABOVE = 1024 * 1024;
const RESUME_BELOW = 256 * 1024;
/** The longest pause of reading. It is limited because pings are not answered during a pause. */
const PAUSE_MS = 5_000;
const MAX_FRAME = 4 * 1024 * 1024;
const HANDSHAKE_MS = 15_000;
const CLOSE_MS = 2_000;
/** Errors that also end the connection at the service, so that the service stops charging. */
const MUTUAL = /^(ECONNRESET|EPIPE|WS_ERR_)/;

/** Connects to the live feed, with the key in a header and without following redirects. */
export function createConnect(options: SocketOptions): Connect {
  const url = new URL(options.url);
  return async (onChange, signal) => {
    const { WebSocket } = await import('ws');
    signal.throwIfAborted();
    const tunnel = await tunnelTo(url, options.env, signal);
    const opening: { sent: boolean } = { sent: false };
    const socket = new WebSocket(url, {
      headers: { authorization: `Bearer ${options.key}`, 'user-agent': options.userAgent },
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
    const link = linkOf(socket, onChange, options);
    await opened(socket, url.host, opening, options.now, signal);
    return link;
  };
}

/** Creates the link of a WebSocket, whose frames stay in a queue until the tail reads them. */
function linkOf(
  socket: Opening,
  onChange: () => void,
  { key, maxHeld = MAX_HELD, clock = systemClock }: SocketOptions,
): Link {
  const mask = createByteMask(key);
  const queue = new FrameQueue();
  let signs = 0;
  let end: LinkEnd | undefined;
  let fault = '';
  let pause: AbortController | undefined;
  let mayPause = true;
  let closing: Promise<boolean> | undefined;

  const finish = (why: LinkEnd['why'], text: string, unconfirmed = false) => {
    end ??= unconfirmed ? { why, text, unconfirmed } : { why, text };
    onChange();
  };
  const onSign = () => {
    signs++;
    onChange();
  };
  const resume = () => {
    pause?.abort();
    pause = undefined;
    socket.resume();
  };
  const onMessage = (data: unknown, isBinary: boolean) => {
    // By default, ws delivers each frame as one Buffer.
    if (end || closing || !(data instanceof Buffer)) return;
    // ws has checked that text frames are valid UTF-8. Binary frames may be invalid, so replace invalid bytes.
    queue.push(isBinary ? Buffer.from(data.toString('utf8')) : data);
    if (queue.held > maxHeld) {
      finish('overflow', 'the queue of frames is full');
      socket.terminate();
    } else if (mayPause && queue.held > PAUSE_ABOVE) {
      mayPause = false;
      socket.pause();
      pause = new AbortController();
      clock.sleep(PAUSE_MS, pause.signal).then(resume, () => {});
    }
    onSign();
  };

  socket.on('ping', onSign).on('pong', onSign).on('message', onMessage);
  socket.on('error', (error) => {
    fault = 'code' in error && typeof error.code === 'string' ? error.code : '';
  });
  socket.on('close', (code, reason) => {
    pause?.abort();
    const text = `${code}${reason.length > 0 ? ` ${reason.toString('utf8').slice(0, 200)}` : ''}`;
    finish(
      code === CLOSE_QUOTA ? 'quota' : code === 1006 ? 'reset' : 'closed',
      text,
      code === 1006 && fault !== '' && !MUTUAL.test(fault),
    );
  });

  return {
    next() {
      const frame = queue.next();
      if (!mayPause && queue.held < RESUME_BELOW) {
        mayPause = true;
        if (pause) resume();
      }
      return frame && mask(frame);
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
      closing ??= closeCleanly(socket, clock, pause ? resume : undefined);
      return closing;
    },
  };
}

/** Resolves to whether the service confirmed the close, and so charges no further minute. */
function closeCleanly(
  socket: Opening,
  clock: Pick<Clock, 'sleep'>,
  resume: (() => void) | undefined,
): Promise<boolean> {
  if (socket.readyState !== socket.OPEN) {
    socket.terminate();
    return Promise.resolve(false);
  }
  return new Promise((resolve) => {
    const timeout = new AbortController();
    clock.sleep(CLOSE_MS, timeout.signal).then(
      () => socket.terminate(),
      () => {},
    );
    socket.once('close', (code) => {
      timeout.abort();
      resolve(code !== 1006);
    });
    resume?.();
    socket.close(1000);
  });
}

/** A connection through the proxy that the environment configures; undefined if no proxy is configured. */
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

/** The overhead of a frame in bytes, so that a queue of many small frames is limited too. */
const FRAME_COST = 256;
/** When this many frames of the array were read, they are removed from it. */
const COMPACT_AFTER = 1_024;

class FrameQueue {
  /** The size in bytes, with the overhead. */
  held = 0;
  #frames: (Uint8Array | undefined)[] = [];
  #first = 0;

  push(frame: Uint8Array): void {
    this.#frames.push(frame);
    this.held += frame.byteLength + FRAME_COST;
  }

  next(): Uint8Array | undefined {
    const frame = this.#frames[this.#first];
    if (frame === undefined) return undefined;
    this.#frames[this.#first++] = undefined;
    this.held -= frame.byteLength + FRAME_COST;
    if (this.#first === this.#frames.length || this.#first >= COMPACT_AFTER) {
      this.#frames = this.#frames.slice(this.#first);
      this.#first = 0;
    }
    return frame;
  }
}
