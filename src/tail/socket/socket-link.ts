import type { Clock } from '../../base/clock.ts';
import { CLOSE_QUOTA } from '../../contract/frames.ts';
import type { Link, LinkEnd } from '../ports.ts';
import type { Opening } from './handshake.ts';

interface LinkOptions {
  /** Replaces the key in a frame, which could contain it. */
  readonly mask: (frame: Uint8Array) => Uint8Array;
  /** The size of the queue in bytes above which the connection is closed. */
  readonly maxHeld: number;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** Reading pauses above the first size of the queue in bytes, and resumes below the second. */
const PAUSE_ABOVE = 1024 * 1024;
const RESUME_BELOW = 256 * 1024;
/** The longest pause of reading. It is limited because pings are not answered during a pause. */
const PAUSE_MS = 5_000;
const CLOSE_MS = 2_000;
/** The code of a connection that ended without a close of the service. */
const CLOSE_ABNORMAL = 1006;
/** Errors that also end the connection at the service, so that the service stops charging. */
const MUTUAL = /^(ECONNRESET|EPIPE|WS_ERR_)/;

/** The link of a WebSocket, whose frames stay in a queue until the tail reads them. */
export class SocketLink implements Link {
  signs = 0;
  end: LinkEnd | undefined;
  /** The code of the last error, which says whether the service knows of the end too. */
  #fault = '';
  /** Set while reading pauses. */
  #pause: AbortController | undefined;
  /** Whether the queue was emptied since the last pause. */
  #mayPause = true;
  #closing: Promise<boolean> | undefined;
  readonly #queue = new FrameQueue();
  readonly #socket: Opening;
  readonly #onChange: () => void;
  readonly #options: LinkOptions;

  constructor(socket: Opening, onChange: () => void, options: LinkOptions) {
    this.#socket = socket;
    this.#onChange = onChange;
    this.#options = options;
    socket
      .on('ping', () => this.#sign())
      .on('pong', () => this.#sign())
      .on('message', (data, isBinary) => this.#receive(data, isBinary))
      .on('error', (error) => {
        this.#fault = 'code' in error && typeof error.code === 'string' ? error.code : '';
      })
      .on('close', (code, reason) => this.#closed(code, reason));
  }

  get held(): number {
    return this.#queue.held;
  }

  next(): Uint8Array | undefined {
    const frame = this.#queue.next();
    if (!this.#mayPause && this.#queue.held < RESUME_BELOW) {
      this.#mayPause = true;
      if (this.#pause) this.#resume();
    }
    return frame && this.#options.mask(frame);
  }

  send(text: string): void {
    this.#socket.send(text, () => {});
  }

  ping(): void {
    const socket = this.#socket;
    if (socket.readyState === socket.OPEN) socket.ping(undefined, undefined, () => {});
  }

  /** Resolves to whether the service confirmed the close, and so charges no further minute. */
  close(): Promise<boolean> {
    this.#closing ??= this.#closeCleanly();
    return this.#closing;
  }

  #sign(): void {
    this.signs++;
    this.#onChange();
  }

  #receive(data: unknown, isBinary: boolean): void {
    // By default, ws delivers each frame as one Buffer.
    if (this.end || this.#closing || !(data instanceof Buffer)) return;
    // ws has checked that text frames are valid UTF-8. Binary frames may be invalid, so replace
    // invalid bytes.
    this.#queue.push(isBinary ? Buffer.from(data.toString('utf8')) : data);
    if (this.#queue.held > this.#options.maxHeld) {
      this.#finish({ why: 'overflow', text: 'the queue of frames is full' });
      this.#socket.terminate();
    } else if (this.#mayPause && this.#queue.held > PAUSE_ABOVE) this.#pauseReading();
    this.#sign();
  }

  #pauseReading(): void {
    this.#mayPause = false;
    this.#socket.pause();
    this.#pause = new AbortController();
    this.#options.clock.sleep(PAUSE_MS, this.#pause.signal).then(
      () => this.#resume(),
      () => {},
    );
  }

  #resume(): void {
    this.#pause?.abort();
    this.#pause = undefined;
    this.#socket.resume();
  }

  #closed(code: number, reason: Buffer): void {
    this.#pause?.abort();
    const text = `${code}${reason.length > 0 ? ` ${reason.toString('utf8').slice(0, 200)}` : ''}`;
    const isAbnormal = code === CLOSE_ABNORMAL;
    const why = isAbnormal ? 'reset' : 'closed';
    const end: LinkEnd = { why: code === CLOSE_QUOTA ? 'quota' : why, text };
    const isUnconfirmed = isAbnormal && this.#fault !== '' && !MUTUAL.test(this.#fault);
    this.#finish(isUnconfirmed ? { ...end, unconfirmed: true } : end);
  }

  #finish(end: LinkEnd): void {
    this.end ??= end;
    this.#onChange();
  }

  #closeCleanly(): Promise<boolean> {
    const socket = this.#socket;
    if (socket.readyState !== socket.OPEN) {
      socket.terminate();
      return Promise.resolve(false);
    }
    return new Promise((resolve) => {
      const timeout = new AbortController();
      this.#options.clock.sleep(CLOSE_MS, timeout.signal).then(
        () => socket.terminate(),
        () => {},
      );
      socket.once('close', (code) => {
        timeout.abort();
        resolve(code !== CLOSE_ABNORMAL);
      });
      // The answer to a close cannot be read during a pause.
      if (this.#pause) this.#resume();
      socket.close(1000);
    });
  }
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
