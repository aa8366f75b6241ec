import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { plainJson } from '../../base/json-object.ts';
import type { PriceBounds, RetryRule } from '../../contract/endpoint.ts';
import { cu } from '../../contract/limits.ts';
import type { HttpAnswer, Transport } from '../../contract/ports/transport.ts';
import { type BaseUrl, parseBaseUrl } from '../http/base-url.ts';
import type { InFlight } from './in-flight.ts';
import { readServiceError } from './service-errors.ts';
import type { ServiceKey } from './service-key.ts';

/** The service does not know the key. */
const REJECTED = 401;

/** A request below the base URL. */
export interface Message {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  /** Undefined if the price is not known. */
  readonly bounds: PriceBounds | undefined;
  readonly timeoutMs: number;
  readonly rule: RetryRule;
}

/** Whether a request was written. From then on it may be charged. */
export interface SendState {
  isSent: boolean;
}

/** The service reads the key from either header. */
export type KeyHeader = 'authorization' | 'x-api-key';

export interface ChannelOptions {
  readonly transport: Transport;
  readonly baseUrl: string;
  readonly insecureHttp?: boolean | undefined;
  readonly key: ServiceKey;
  readonly clock: Clock;
  readonly inFlight: InFlight;
  /** Prints what is sent and received, without the key; undefined without --debug. */
  readonly trace?: ((line: string) => void) | undefined;
  readonly userAgent?: string | undefined;
  readonly keyHeader?: KeyHeader | undefined;
}

/**
 * Sends single requests with the key, and masks the key in what comes back. Knows nothing of rate
 * limits, spending limits and retries.
 */
export class Channel {
  readonly #options: ChannelOptions;
  readonly #base: BaseUrl;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.#base = parseBaseUrl(options.baseUrl, { insecureHttp: options.insecureHttp });
  }

  trace(line: string): void {
    const { key, trace } = this.#options;
    trace?.(key.mask(line));
  }

  /** An abort cancels a paid request only until it is sent, and a free one at any time. */
  async transmit(
    message: Message,
    signal: AbortSignal | undefined,
    state: SendState = { isSent: false },
  ): Promise<HttpAnswer> {
    this.#checkKey(message);
    const { key } = this.#options;
    const used = key.current;
    const answer = await this.#send(message, used, signal, state);
    if (answer.status !== REJECTED) return answer;
    const { own } = readServiceError(answer, plainJson(answer.text), 0);
    if (!(await key.replace(used, own))) return answer;
    // A call with a rejected key costs nothing, and the reservation of this one covers the next.
    state.isSent = false;
    return await this.#send(message, key.current, signal, state);
  }

  async #send(
    message: Message,
    key: string,
    signal: AbortSignal | undefined,
    state: SendState,
  ): Promise<HttpAnswer> {
    const { method, path, body, timeoutMs } = message;
    const { userAgent, keyHeader } = this.#options;
    const headers = requestHeaders(body, key, userAgent, keyHeader);
    const url = `${this.#base.origin}${this.#base.prefix}${path}`;
    this.trace(`> ${method} ${url}`);
    for (const [name, value] of Object.entries(headers)) this.trace(`> ${name}: ${value}`);
    const gate = new SendGate(message, signal, state, this.#options.inFlight);
    const isFresh = isPrecious(message);
    const request = { method, url, headers, body, timeoutMs, ending: signal, isFresh };
    const began = this.#options.clock.mono();
    const took = () => `${Math.round(this.#options.clock.mono() - began)} ms`;
    try {
      const answer = await this.#options.transport.send(
        { ...request, onSent: () => gate.pass() },
        gate.signal,
      );
      const masked = this.#masked(answer);
      this.trace(`< ${masked.status} in ${took()}, ${masked.text.length} characters`);
      for (const [name, value] of Object.entries(masked.headers)) this.trace(`< ${name}: ${value}`);
      return masked;
    } catch (error) {
      const what = error instanceof Failure ? `${error.code}: ${error.message}` : 'failed';
      this.trace(`! ${what} after ${took()}`);
      throw error;
    } finally {
      gate.close();
    }
  }

  /**
   * The key is sent only in its header. Flags, files or earlier answers could also put it
   * elsewhere.
   */
  #checkKey({ method, path, body = '' }: Message): void {
    const { key } = this.#options;
    if (key.mask(path) === path && key.mask(body) === body) return;
    const text = `this ${method} request would contain your API key; nothing was sent`;
    throw new Failure('usage', text, {
      code: 'KEY_IN_REQUEST',
      hint: 'check the command line and the input for the key',
    });
  }

  #masked({ status, headers, text }: HttpAnswer): HttpAnswer {
    const { key } = this.#options;
    const masked = Object.entries(headers).map(([name, value]) => [name, key.mask(value)]);
    return { status, headers: Object.fromEntries(masked), text: key.mask(text) };
  }
}

export const requestHeaders = (
  body: string | undefined,
  key: string,
  userAgent: string | undefined,
  keyHeader?: KeyHeader,
): Readonly<Record<string, string>> => ({
  accept: 'application/json',
  ...(body !== undefined && { 'content-type': 'application/json' }),
  ...(userAgent && { 'user-agent': userAgent }),
  ...headerOfKey(key, keyHeader),
});

export const headerOfKey = (
  key: string,
  header: KeyHeader = 'authorization',
): Readonly<Record<string, string>> =>
  header === 'authorization' ? { authorization: `Bearer ${key}` } : { [header]: key };

/**
 * Whether losing the answer would be expensive: the call may cost a reveal, and is never repeated.
 * It gets a connection of its own, because an idle one may break under the request.
 */
const isPrecious = ({ rule, bounds }: Message): boolean =>
  rule === 'never' && (bounds?.most ?? cu.reveal) >= cu.reveal;

/**
 * Follows the signal of the caller until the request is sent. From then on the service may charge
 * it, so an abort no longer cancels a paid one, and a shutdown waits for its answer.
 */
class SendGate {
  readonly #message: Message;
  readonly #caller: AbortSignal | undefined;
  readonly #state: SendState;
  readonly #inFlight: InFlight;
  readonly #controller = new AbortController();
  readonly #abort = () => this.#controller.abort(this.#caller?.reason);
  #endFlight: (() => void) | undefined;

  constructor(
    message: Message,
    caller: AbortSignal | undefined,
    state: SendState,
    inFlight: InFlight,
  ) {
    this.#message = message;
    this.#caller = caller;
    this.#state = state;
    this.#inFlight = inFlight;
    if (caller?.aborted) this.#abort();
    caller?.addEventListener('abort', this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The request is about to be written. */
  pass(): void {
    this.#state.isSent = true;
    const { bounds, timeoutMs } = this.#message;
    if (bounds?.most === 0) return;
    this.#caller?.removeEventListener('abort', this.#abort);
    this.#endFlight = this.#inFlight.begin(timeoutMs);
  }

  close(): void {
    this.#caller?.removeEventListener('abort', this.#abort);
    this.#endFlight?.();
  }
}
