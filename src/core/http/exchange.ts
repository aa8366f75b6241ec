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

// V8's background optimization of undici's WebAssembly parser would delay the exit of the process
// by about 80 ms.
setFlagsFromString('--liftoff-only');
// V8 rejects a code cache written under other flags, so before the exit reset this flag and the two
// that it implies.
process.prependOnceListener('exit', () => {
  for (const flag of ['--no-liftoff-only', '--wasm-tier-up', '--wasm-dynamic-tiering'])
    setFlagsFromString(flag);
});

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

const ending = (
  handler: Dispatcher.DispatchHandler,
  over: () => void,
): Dispatcher.DispatchHandler => ({
  ...handler,
  onResponseEnd(...given) {
    over();
    handler.onResponseEnd?.(...given);
  },
  onResponseError(...given) {
    over();
    handler.onResponseError?.(...given);
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

export function exchange(
  dispatcher: Pick<Dispatcher, 'dispatch'>,
  request: Addressed,
  maxBytes: number,
  signal: AbortSignal | undefined,
): Promise<HttpAnswer> {
  const { origin, path, host, method, headers, body, timeoutMs, ending } = request;
  return new Promise((resolve, reject) => {
    let sent = false;
    let done = false;
    let status = 0;
    let answered: Record<string, string> = {};
    let size = 0;
    const chunks: Buffer[] = [];
    let stop: ((reason: Error) => void) | undefined;

    const finish = (settle: () => void) => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      clearTimeout(total);
      signal?.removeEventListener('abort', onAbort);
      ending?.removeEventListener('abort', onEnding);
      settle();
    };
    const fail = (error: unknown) => {
      finish(() => reject(error));
      stop?.(ABANDONED);
    };
    const onAbort = () => fail(signal?.reason);
    const onTime = () => {
      if (status > 0) end(incomplete(host, timeoutMs));
      else end(sent ? noAnswer(host, timeoutMs) : unreachable(host, TOO_SLOW));
    };
    let total: NodeJS.Timeout | undefined;
    const limitTo = (ms: number) => {
      clearTimeout(total);
      total = setTimeout(onTime, ms);
    };
    const onEnding = () => limitTo(timeoutMs);

    const textSoFar = () =>
      textOfBody(Buffer.concat(chunks), answered['content-encoding'], maxBytes);
    const succeed = (text: string) => finish(() => resolve({ status, headers: answered, text }));
    /**
     * A complete record counts even if the end of the response is missing: the request may have
     * been charged.
     */
    const end = (failure: Error) => {
      if (done) return;
      const text = status < 200 ? undefined : textSoFar();
      if (text === undefined || !isCompleteObject(text)) return fail(failure);
      succeed(text);
      stop?.(ABANDONED);
    };

    const timer = setTimeout(onTime, timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        stop = (reason) => controller.abort(reason);
        // The request was aborted or timed out while it was queued, so nothing was sent.
        if (done) return stop(ABANDONED);
        sent = true;
        request.onSent?.();
        // Restart the timeout now, because the time in the queue must not count.
        timer.refresh();
        if (ending?.aborted) return onEnding();
        limitTo(LONGEST_RESPONSE * timeoutMs);
        ending?.addEventListener('abort', onEnding, { once: true });
      },
      onResponseStart(_controller, statusCode, received) {
        timer.refresh();
        status = statusCode;
        answered = flat(received);
        const { location } = answered;
        if (status >= 300 && status < 400 && location) {
          // Mask the key, because the location of a redirect may repeat the path and query of the
          // request.
          const key = headers['authorization']?.replace(/^Bearer /, '');
          fail(redirected(host, status, withoutKey(location, key)));
        }
      },
      onResponseData(_controller, chunk) {
        if (!done) timer.refresh();
        size += chunk.length;
        if (size > maxBytes) return fail(tooLarge(host, maxBytes));
        if (!done) chunks.push(chunk);
      },
      onResponseEnd() {
        const text = textSoFar();
        if (text === undefined) fail(tooLarge(host, maxBytes));
        else succeed(text);
      },
      onResponseError(_controller, error) {
        end(sent ? broken(host, error) : unreachable(host, error));
      },
    };
    try {
      dispatcher.dispatch({ origin, path, method, headers, body: body ?? null }, handler);
    } catch (error) {
      fail(unreachable(host, error));
    }
  });
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
