import { setFlagsFromString } from 'node:v8';
import type { Dispatcher } from 'undici';
import Client from 'undici/lib/dispatcher/client.js';
import { plainJson } from '../../base/json-object.ts';
import { LONGEST_RESPONSE } from '../../contract/limits.ts';
import type { HttpAnswer, HttpRequest } from '../../contract/ports/transport.ts';
import { withoutKey } from '../client/mask-key.ts';
import {
  broken,
  incomplete,
  noAnswer,
  redirected,
  tooLarge,
  unreachable,
} from './network-failures.ts';

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
 * The transport has its own timeout. A response rejected for headers over 16 KB (in Node) may have
 * been paid for.
 */
export const noLimits = { headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 256 * 1024 } as const;

/**
 * undici's own pool treats a connection that just received a response as busy, which costs a TLS
 * handshake.
 */
export function direct(origin: string, wiring: Wiring): Lines {
  const clients: Lines[] = [];
  const idle: Lines[] = [];
  const waiting: ((client: Lines) => void)[] = [];

  const open = (): Lines => {
    skipBackgroundOptimization();
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
      // Let Node notice first if the server closed this connection: a request lost on it may have
      // been charged.
      if (used) setImmediate(start, used);
      else if (clients.length < wiring.connections) start(open());
      else waiting.push(start);
      return true;
    },
    destroy: () => Promise.all(clients.map((client) => client.destroy())),
  };
}

/**
 * V8's background optimization of undici's WebAssembly parser, which the first client compiles,
 * would delay the exit of the process by about 80 ms.
 */
export function skipBackgroundOptimization(): void {
  if (process.listeners('exit').includes(resetFlags)) return;
  setFlagsFromString('--liftoff-only');
  process.prependOnceListener('exit', resetFlags);
}

/**
 * V8 rejects a code cache written under other flags, so before the exit reset this flag and the two
 * that it implies.
 */
function resetFlags(): void {
  for (const flag of ['--no-liftoff-only', '--wasm-tier-up', '--wasm-dynamic-tiering'])
    setFlagsFromString(flag);
}

const ending = (
  handler: Dispatcher.DispatchHandler,
  over: () => void,
): Dispatcher.DispatchHandler => ({
  ...handler,
  onResponseEnd(...args) {
    over();
    handler.onResponseEnd?.(...args);
  },
  onResponseError(...args) {
    over();
    handler.onResponseError?.(...args);
  },
});

/**
 * A request whose URL is split without changing a byte, because the class `URL` would normalize the
 * path.
 */
export interface Addressed extends HttpRequest {
  readonly origin: string;
  readonly path: string;
  readonly host: string;
}

/** Sends one request through a dispatcher, and reads the whole response. */
export function exchange(
  dispatcher: Pick<Dispatcher, 'dispatch'>,
  request: Addressed,
  maxBytes: number,
  signal: AbortSignal | undefined,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    new Exchange(request, maxBytes, signal, { resolve, reject }).begin(dispatcher);
  });
}

interface Settle {
  readonly resolve: (answer: HttpAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One request on its way. How it may fail depends on how far it has come: before it was sent it
 * cost nothing, afterwards its answer may have been charged, so an answer that is complete counts
 * even if the response is not.
 */
class Exchange {
  readonly #request: Addressed;
  readonly #maxBytes: number;
  readonly #signal: AbortSignal | undefined;
  readonly #settle: Settle;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  /** Whether the service may have received the request. */
  #isSent = false;
  #isDone = false;
  /** The status of the response; 0 until its head has arrived. */
  #status = 0;
  #headers: Record<string, string> = {};
  /** Ends the request in undici; undefined while it is queued. */
  #stop: ((reason: Error) => void) | undefined;
  /** Restarted by everything that arrives. */
  #silence: NodeJS.Timeout | undefined;
  /** Not restarted: a response that keeps arriving slowly must end too. */
  #whole: NodeJS.Timeout | undefined;

  constructor(
    request: Addressed,
    maxBytes: number,
    signal: AbortSignal | undefined,
    settle: Settle,
  ) {
    this.#request = request;
    this.#maxBytes = maxBytes;
    this.#signal = signal;
    this.#settle = settle;
  }

  begin(dispatcher: Pick<Dispatcher, 'dispatch'>): void {
    const { origin, path, host, method, headers, body, timeoutMs } = this.#request;
    this.#silence = setTimeout(this.#onTime, timeoutMs);
    this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
    try {
      dispatcher.dispatch({ origin, path, method, headers, body: body ?? null }, this.#handler());
    } catch (error) {
      this.#fail(unreachable(host, error));
    }
  }

  /** An object and not the class itself, because dispatchers copy the members of a handler. */
  #handler(): Dispatcher.DispatchHandler {
    return {
      onRequestStart: (controller) => this.#start((reason) => controller.abort(reason)),
      onResponseStart: (_controller, status, headers) => this.#answer(status, headers),
      onResponseData: (_controller, chunk) => this.#add(chunk),
      onResponseEnd: () => this.#complete(),
      onResponseError: (_controller, error) => this.#break(error),
    };
  }

  #start(stop: (reason: Error) => void): void {
    const { timeoutMs, ending, onSent } = this.#request;
    this.#stop = stop;
    // The request was aborted or timed out while it was queued, so nothing was sent.
    if (this.#isDone) {
      stop(ABANDONED);
      return;
    }
    this.#isSent = true;
    onSent?.();
    // Restart the timeout now, because the time in the queue must not count.
    this.#silence?.refresh();
    if (ending?.aborted) this.#onEnding();
    else {
      this.#limitTo(LONGEST_RESPONSE * timeoutMs);
      ending?.addEventListener('abort', this.#onEnding, { once: true });
    }
  }

  #answer(status: number, headers: Record<string, string | string[] | undefined>): void {
    this.#silence?.refresh();
    this.#status = status;
    this.#headers = flat(headers);
    const { location } = this.#headers;
    if (status < 300 || status >= 400 || !location) return;
    // Mask the key, because the location of a redirect may repeat the path and query of the
    // request.
    const key = this.#request.headers['authorization']?.replace(/^Bearer /, '');
    this.#fail(redirected(this.#request.host, status, withoutKey(location, key)));
  }

  #add(chunk: Buffer): void {
    if (!this.#isDone) this.#silence?.refresh();
    this.#size += chunk.length;
    if (this.#size > this.#maxBytes) this.#fail(tooLarge(this.#request.host, this.#maxBytes));
    if (!this.#isDone) this.#chunks.push(chunk);
  }

  #complete(): void {
    const text = this.#text();
    if (text === undefined) this.#fail(tooLarge(this.#request.host, this.#maxBytes));
    else this.#succeed(text);
  }

  #break(error: unknown): void {
    const { host } = this.#request;
    this.#cut(this.#isSent ? broken(host, error) : unreachable(host, error));
  }

  readonly #onTime = (): void => {
    const { host, timeoutMs } = this.#request;
    if (this.#status > 0) this.#cut(incomplete(host, timeoutMs));
    else this.#cut(this.#isSent ? noAnswer(host, timeoutMs) : unreachable(host, TOO_SLOW));
  };

  readonly #onAbort = (): void => this.#fail(this.#signal?.reason);

  /**
   * A run that is ending waits for its paid calls once more as long as their timeout, not longer.
   */
  readonly #onEnding = (): void => this.#limitTo(this.#request.timeoutMs);

  #limitTo(ms: number): void {
    clearTimeout(this.#whole);
    this.#whole = setTimeout(this.#onTime, ms);
  }

  /**
   * Ends the request after a failure or a timeout. A complete record counts even if the end of the
   * response is missing: the request may have been charged.
   */
  #cut(failure: Error): void {
    if (this.#isDone) return;
    const text = this.#status < 200 ? undefined : this.#text();
    if (text === undefined || !isCompleteObject(text)) this.#fail(failure);
    else {
      this.#succeed(text);
      this.#stop?.(ABANDONED);
    }
  }

  #succeed(text: string): void {
    if (!this.#finish()) return;
    this.#settle.resolve({ status: this.#status, headers: this.#headers, text });
  }

  #fail(error: unknown): void {
    if (this.#finish()) this.#settle.reject(error);
    this.#stop?.(ABANDONED);
  }

  /** False if the request has ended before. */
  #finish(): boolean {
    if (this.#isDone) return false;
    this.#isDone = true;
    clearTimeout(this.#silence);
    clearTimeout(this.#whole);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#request.ending?.removeEventListener('abort', this.#onEnding);
    return true;
  }

  /** The text so far; undefined if it is too large. */
  #text(): string | undefined {
    const bytes = Buffer.concat(this.#chunks);
    return textOfBody(bytes, this.#headers['content-encoding'], this.#maxBytes);
  }
}

const ABANDONED = new Error('abandoned');
const TOO_SLOW = Object.assign(new Error('the connection timed out'), { code: 'ETIMEDOUT' });

function flat(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined)
      out[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return out;
}

/**
 * Undefined if the text is larger than `maxBytes`. A proxy may compress a response although trdr
 * does not request it.
 */
function textOfBody(
  bytes: Buffer,
  coding: string | undefined,
  maxBytes: number,
): string | undefined {
  const plain = coding === undefined ? bytes : decoded(bytes, coding, maxBytes);
  return plain?.toString('utf8').replace(/^\uFEFF/, '');
}

function decoded(bytes: Buffer, coding: string, maxBytes: number): Buffer | undefined {
  const names = coding.toLowerCase().split(/[\s,]+/);
  try {
    return names.reduceRight((body, name) => decodedOnce(body, name, maxBytes), bytes);
  } catch (error) {
    return error instanceof RangeError ? undefined : bytes;
  }
}

function decodedOnce(bytes: Buffer, name: string, maxOutputLength: number): Buffer {
  const zlib = process.getBuiltinModule('node:zlib');
  switch (name) {
    case 'gzip':
    case 'x-gzip':
      return zlib.gunzipSync(bytes, { maxOutputLength });
    case 'br':
      return zlib.brotliDecompressSync(bytes, { maxOutputLength });
    case 'deflate':
      // Some servers send a bare deflate stream, without the zlib header that the coding requires.
      return (bytes[0] ?? 0) % 16 === 8
        ? zlib.inflateSync(bytes, { maxOutputLength })
        : zlib.inflateRawSync(bytes, { maxOutputLength });
    default:
      return bytes;
  }
}

/**
 * An object without its closing brace is not valid JSON, so a text that was cut short is never
 * complete.
 */
const isCompleteObject = (text: string): boolean =>
  /^\s*\{/.test(text) && plainJson(text) !== undefined;
