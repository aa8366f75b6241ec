import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import type { Charge, PriceBounds, RetryRule } from '../../contract/endpoint.ts';
import type {
  HttpAnswer,
  HttpRequest,
  Ledger,
  Notice,
  RateWindows,
  Slot,
  Transport,
} from '../../contract/ports.ts';
import { cu } from '../../contract/prices.ts';
import { parseBaseUrl } from '../http/base-url.ts';
import { createLimiter, type LaneName } from '../spend/rate-limiter.ts';
import { createSpend, type SpendLimit } from '../spend/spend.ts';
import type { InFlight } from './in-flight.ts';
import { withoutKey } from './mask-key.ts';
import { type Outcome, waitOf, withRetries } from './retry.ts';

export interface ClientOptions {
  readonly transport: Transport;
  readonly baseUrl: string;
  readonly insecureHttp?: boolean | undefined;
  /** If undefined, every call fails with an `auth` Failure before anything is sent. */
  readonly key: string | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly windows: RateWindows;
  readonly limit: SpendLimit;
  readonly ledger: Ledger;
  readonly inFlight: InFlight;
  readonly retries?: number | undefined;
  /** By default, the timeout of the endpoint. */
  readonly timeoutMs?: number | undefined;
  readonly notify: (notice: Notice) => void;
  readonly userAgent?: string | undefined;
}

const RETRIES = 4;

/** A request below the base URL. */
interface Message {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  readonly timeoutMs: number;
}

interface Plan<T> extends Message {
  readonly endpoint: string;
  readonly bounds: PriceBounds | undefined;
  readonly rule: RetryRule;
  /** True if the same call was sent before and its answer was lost. */
  readonly repeat?: boolean | undefined;
  readonly lane: LaneName;
  readonly until?: number | undefined;
  readonly read: (answer: HttpAnswer) => Read<T>;
}

/** `charge` is undefined if the cost of the call cannot be read from the response. */
type Read<T> = (
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure; readonly value?: T }
) & { readonly charge: Charge | undefined; readonly requestId: string | undefined };

interface Losses {
  answers: number;
  cuAtMost: number;
}

/** Sends calls within the rate limit, the spending limit and the budgets. `askRate` is that of `createLimiter`. */
export function createSender(options: ClientOptions, askRate: Parameters<typeof createLimiter>[2]) {
  const { transport, key, clock, inFlight, notify } = options;
  const base = parseBaseUrl(options.baseUrl, { insecureHttp: options.insecureHttp });
  const limiter = createLimiter(options.windows, clock, askRate, notify);
  const spend = createSpend(options.limit, limiter, options.ledger);
  const trace = (line: string) => notify({ kind: 'trace', line: withoutKey(line, key) });

  /** Sends a call, and retries it as its rule allows. */
  async function run<T>(plan: Plan<T>, signal: AbortSignal | undefined): Promise<Outcome<T>> {
    const { endpoint, bounds, rule, repeat = false } = plan;
    const losses: Losses = { answers: 0, cuAtMost: 0 };
    const mayPayAgain = () => options.limit.limit !== undefined || spend.affords(bounds?.most ?? 0);
    try {
      return await withRetries(
        async (previous) => {
          const again = previous !== undefined && !previous.ok && !previous.free;
          try {
            return await attempt(plan, again || repeat, losses, signal);
          } catch (error) {
            // Other calls have meanwhile used the amount that the repetition needs.
            if (again && error instanceof Failure && error.code === 'NOT_AGREED') return previous;
            throw error;
          }
        },
        (_, free) => free || (rule === 'repeat' && mayPayAgain()),
        options.retries ?? RETRIES,
        clock,
        options.random,
        notify,
        signal,
      );
    } finally {
      if (losses.cuAtMost > 0) notify({ kind: 'lost', endpoint, ...losses });
    }
  }

  /** Sends a call once, after reserving its maximum cost. */
  async function attempt<T>(
    plan: Plan<T>,
    repeat: boolean,
    losses: Losses,
    signal: AbortSignal | undefined,
  ): Promise<Outcome<T>> {
    let slot: Slot;
    try {
      slot = await spend.reserve(plan, signal, { repeat });
    } catch (error) {
      if (!(error instanceof Failure) || error.kind === 'limit') throw error;
      return { ok: false, failure: error, free: true };
    }
    const lose = (status: number | null, requestId?: string) => {
      slot.lose({ status, requestId });
      losses.answers++;
      losses.cuAtMost += plan.bounds?.most ?? 0;
    };
    let answer: HttpAnswer;
    const state = { isSent: false };
    try {
      answer = await exchange(plan, state, signal);
    } catch (error) {
      const failure = error instanceof Failure ? error : undefined;
      const isPossible = failure?.code !== 'UNREACHABLE' && (state.isSent || failure?.kind === 'network');
      if (isPossible) lose(failure?.status ?? null);
      else slot.release();
      if (!failure) throw error;
      return { ok: false, failure, free: !isPossible };
    }
    const read = plan.read(answer);
    const { charge, requestId } = read;
    const free = charge?.cu === 0 && !charge.uncertain;
    if (free) slot.release();
    else if (!charge) lose(answer.status, requestId);
    else {
      slot.settle({ status: answer.status, cu: charge.cu, cuAtMost: charge.uncertain, requestId });
      trace(`= ${charge.cu} CU`);
    }
    if (read.ok) return { ok: true, value: read.value };
    const { failure, value } = read;
    if (failure.kind === 'rate') await limiter.refused(plan.lane, waitOf(failure));
    return { ok: false, failure, free, value };
  }

  /** Sends a request whose slot was reserved. An abort cancels it only until it is sent, unless it is free. */
  async function exchange(
    plan: Plan<unknown>,
    state: { isSent: boolean },
    signal: AbortSignal | undefined,
  ): Promise<HttpAnswer> {
    const gate = new AbortController();
    const abort = () => gate.abort(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    let ended = () => {};
    const onSent = () => {
      state.isSent = true;
      if (plan.bounds?.most === 0) return;
      signal?.removeEventListener('abort', abort);
      ended = inFlight.begin(plan.timeoutMs);
    };
    // An idle connection may break under the request. That would be expensive if the call is never repeated.
    const isFresh = plan.rule === 'never' && (plan.bounds?.most ?? cu.reveal) >= cu.reveal;
    try {
      return await transmit(plan, gate.signal, { ending: signal, isFresh, onSent });
    } finally {
      signal?.removeEventListener('abort', abort);
      ended();
    }
  }

  /** Sends one request without rate limit, spending limit, retries or ledger entry. */
  async function transmit(
    { method, path, body, timeoutMs }: Message,
    signal?: AbortSignal,
    how: Pick<HttpRequest, 'ending' | 'isFresh' | 'onSent'> = {},
  ): Promise<HttpAnswer> {
    const secret = requireKey(key);
    // The key must be sent only in its header. Flags, files or earlier answers could also put it elsewhere.
    if (withoutKey(path, secret) !== path || withoutKey(body ?? '', secret) !== (body ?? ''))
      throw keyInRequest(method);
    const headers = {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(options.userAgent ? { 'user-agent': options.userAgent } : {}),
      authorization: `Bearer ${secret}`,
    };
    const url = `${base.origin}${base.prefix}${path}`;
    trace(`> ${method} ${url}`);
    for (const [name, value] of Object.entries(headers)) trace(`> ${name}: ${value}`);
    const began = clock.mono();
    const took = () => `${Math.round(clock.mono() - began)} ms`;
    try {
      const answer = await transport.send({ method, url, headers, body, timeoutMs, ...how }, signal);
      const received = Object.entries(answer.headers).map(([name, value]) => [name, withoutKey(value, key)]);
      const text = withoutKey(answer.text, key);
      trace(`< ${answer.status} in ${took()}, ${text.length} characters`);
      for (const [name, value] of received) trace(`< ${name}: ${value}`);
      return { status: answer.status, headers: Object.fromEntries(received), text };
    } catch (error) {
      trace(`! ${error instanceof Failure ? `${error.code}: ${error.message}` : 'failed'} after ${took()}`);
      throw error;
    }
  }

  return { run, transmit, limiter, spend };
}

export function requireKey(key: string | undefined): string {
  if (!key) {
    throw new Failure('auth', 'no API key configured', {
      code: 'NO_KEY',
      hint: 'run "trdr auth login", set TRDR_API_KEY, or try --sandbox',
    });
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new Failure('auth', 'the API key has invalid characters', {
      code: 'BAD_KEY',
      hint: 'enter the key again, exactly as you received it: run "trdr auth login" or set TRDR_API_KEY',
    });
  }
  return key;
}

const keyInRequest = (method: string) =>
  new Failure('usage', `this ${method} request would contain your API key; nothing was sent`, {
    code: 'KEY_IN_REQUEST',
    hint: 'check the command line and the input for the key',
  });
