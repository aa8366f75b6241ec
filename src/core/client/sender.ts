import { type Clock, createBackoff } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import type { Charge, PriceBounds, RetryRule } from '../../contract/endpoint.ts';
import { cu } from '../../contract/limits.ts';
import type { Notice } from '../../contract/ports/client.ts';
import type { Ledger, Slot } from '../../contract/ports/ledger.ts';
import type { RateWindows } from '../../contract/ports/rate-windows.ts';
import type { HttpAnswer, Transport } from '../../contract/ports/transport.ts';
import { parseBaseUrl } from '../http/base-url.ts';
import {
  createLimiter,
  type LaneName,
  MAX_WAIT_MS,
  SILENT_WAIT_MS,
} from '../spend/rate-limiter.ts';
import { createSpend, type SpendLimit } from '../spend/spend.ts';
import type { InFlight } from './in-flight.ts';
import { withoutKey } from './mask-key.ts';

export interface ClientOptions {
  readonly transport: Transport;
  readonly baseUrl: string;
  readonly insecureHttp?: boolean | undefined;
  readonly key: string;
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

/** A request below the base URL. */
interface Message {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  readonly bounds: PriceBounds | undefined;
  readonly timeoutMs: number;
  readonly rule: RetryRule;
}

interface Plan<T> extends Message {
  readonly endpoint: string;
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

type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly failure: Failure;
      /** It was certainly not charged: it was never sent, or its response is documented as free. */
      readonly free: boolean;
      readonly value?: T | undefined;
    };

interface Losses {
  answers: number;
  cuAtMost: number;
}

const RETRIES = 4;
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 20_000;
const UNSTATED_WAIT_MS = 5_000;
/** If the service rounds a wait down to 0 s, trdr must not retry in a tight loop. */
const LEAST_WAIT_MS = 1_000;
/** Short waits that are not reported one by one are reported when their sum exceeds this. */
const BEARABLE_MS = 10_000;

/**
 * Sends calls within the rate limit, the spending limit and the budgets. `askRate` is that of
 * `createLimiter`.
 */
export function createSender(options: ClientOptions, askRate: Parameters<typeof createLimiter>[2]) {
  const { transport, key, clock, inFlight, notify } = options;
  const base = parseBaseUrl(options.baseUrl, { insecureHttp: options.insecureHttp });
  const limiter = createLimiter(options.windows, clock, askRate, notify);
  const spend = createSpend(options.limit, limiter, options.ledger);
  const trace = (line: string) => notify({ kind: 'trace', line: withoutKey(line, key) });

  async function run<T>(plan: Plan<T>, signal: AbortSignal | undefined): Promise<Outcome<T>> {
    const { endpoint, bounds, rule, repeat = false } = plan;
    const losses: Losses = { answers: 0, cuAtMost: 0 };
    const waitAfter = createWaits(options);
    const mayPayAgain = () => options.limit.limit !== undefined || spend.affords(bounds?.most ?? 0);
    try {
      for (let previous: Outcome<T> | undefined; ; ) {
        const again = previous !== undefined && !previous.ok && !previous.free;
        let outcome: Outcome<T>;
        try {
          outcome = await attempt(plan, again || repeat, losses, signal);
        } catch (error) {
          // Other calls have meanwhile used the amount that the repetition needs.
          if (previous && again && error instanceof Failure && error.code === 'NOT_AGREED')
            return previous;
          throw error;
        }
        if (outcome.ok || !outcome.failure.retryable) return outcome;
        if (!outcome.free && (rule === 'never' || !mayPayAgain())) return outcome;
        const ms = waitAfter(outcome.failure);
        if (ms === undefined) return outcome;
        await clock.sleep(ms, signal);
        previous = outcome;
      }
    } finally {
      if (losses.cuAtMost > 0) notify({ kind: 'lost', endpoint, ...losses });
    }
  }

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
      answer = await transmit(plan, signal, state);
    } catch (error) {
      const failure = error instanceof Failure ? error : undefined;
      const isPossible =
        failure?.code !== 'UNREACHABLE' && (state.isSent || failure?.kind === 'network');
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

  /** An abort cancels a paid request only until it is sent, and a free one at any time. */
  async function transmit(
    { method, path, body, bounds, timeoutMs, rule }: Message,
    signal: AbortSignal | undefined,
    state = { isSent: false },
  ): Promise<HttpAnswer> {
    // The key must be sent only in its header. Flags, files or earlier answers could also put it
    // elsewhere.
    if (withoutKey(path, key) !== path || withoutKey(body ?? '', key) !== (body ?? ''))
      throw keyInRequest(method);
    const headers = {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(options.userAgent ? { 'user-agent': options.userAgent } : {}),
      authorization: `Bearer ${key}`,
    };
    const url = `${base.origin}${base.prefix}${path}`;
    trace(`> ${method} ${url}`);
    for (const [name, value] of Object.entries(headers)) trace(`> ${name}: ${value}`);
    const began = clock.mono();
    const took = () => `${Math.round(clock.mono() - began)} ms`;
    const gate = new AbortController();
    const abort = () => gate.abort(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    let ended = () => {};
    const onSent = () => {
      state.isSent = true;
      if (bounds?.most === 0) return;
      signal?.removeEventListener('abort', abort);
      ended = inFlight.begin(timeoutMs);
    };
    // An idle connection may break under the request. That would be expensive if the call is never
    // repeated.
    const isFresh = rule === 'never' && (bounds?.most ?? cu.reveal) >= cu.reveal;
    try {
      const request = { method, url, headers, body, timeoutMs, ending: signal, isFresh, onSent };
      const answer = await transport.send(request, gate.signal);
      const received = Object.entries(answer.headers).map(([name, value]) => [
        name,
        withoutKey(value, key),
      ]);
      const text = withoutKey(answer.text, key);
      trace(`< ${answer.status} in ${took()}, ${text.length} characters`);
      for (const [name, value] of received) trace(`< ${name}: ${value}`);
      return { status: answer.status, headers: Object.fromEntries(received), text };
    } catch (error) {
      trace(
        `! ${error instanceof Failure ? `${error.code}: ${error.message}` : 'failed'} after ${took()}`,
      );
      throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
      ended();
    }
  }

  return { run, transmit, limiter, spend };
}

/**
 * The wait before the next try of a call: after 429s until they exceed MAX_WAIT_MS together, else
 * `retries` times.
 */
function createWaits({ retries = RETRIES, random, notify }: ClientOptions) {
  const backoff = createBackoff(FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS, random);
  let failed = 0;
  let waited = 0;
  let silent = 0;
  let bearable = BEARABLE_MS;
  return (failure: Failure): number | undefined => {
    const is429 = failure.kind === 'rate';
    const ms = is429
      ? waitOf(failure)
      : Math.max(Math.round(backoff.next()), (failure.retryAfter ?? 0) * 1000);
    if (is429) waited += ms;
    else failed++;
    if (failed > retries || Math.max(waited, ms) > MAX_WAIT_MS) return undefined;
    // Consecutive short waits add up; report them at growing intervals.
    silent += ms;
    if (ms <= SILENT_WAIT_MS && silent <= bearable) return ms;
    bearable = 4 * silent;
    const reason = `${failure.code}${failure.status === undefined ? '' : ` (${failure.status})`}`;
    notify(
      is429
        ? { kind: 'wait', ms, reason }
        : { kind: 'retry', attempt: failed, of: retries, ms, reason },
    );
    return ms;
  };
}

const waitOf = ({ retryAfter }: Failure): number =>
  retryAfter === undefined
    ? UNSTATED_WAIT_MS
    : Math.max(LEAST_WAIT_MS, Math.ceil(retryAfter * 1000));

const keyInRequest = (method: string) =>
  new Failure('usage', `this ${method} request would contain your API key; nothing was sent`, {
    code: 'KEY_IN_REQUEST',
    hint: 'check the command line and the input for the key',
  });
