import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import type { Charge, PriceBounds, RetryRule } from '../../contract/endpoint.ts';
import type { HttpAnswer, HttpRequest, Notice, Slot, Transport } from '../../contract/ports.ts';
import { cu } from '../../contract/prices.ts';
import type { BaseUrl } from '../http/base-url.ts';
import type { SpendLimit } from '../spend/limit.ts';
import { type LaneName, type Limiter, MAX_WAIT_MS } from '../spend/rate-limiter.ts';
import type { Spend } from '../spend/spend.ts';
import { abortUntilSent, type InFlight } from './in-flight.ts';
import { withoutKey } from './mask-key.ts';
import { keyInRequest, requireKey, scrubbed } from './request-key.ts';
import { type Outcome, RETRIES, waitOf, withRetries } from './retry.ts';

/** A call of an endpoint or a raw call, ready to be sent. */
interface Plan<T> {
  /** The name of the call in the ledger. */
  readonly endpoint: string;
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  /** The possible cost of the call; undefined if its price is not known. */
  readonly bounds: PriceBounds | undefined;
  readonly rule: RetryRule;
  /** True if the same call was sent before and its answer was lost. */
  readonly repeat?: boolean | undefined;
  readonly lane: LaneName;
  readonly until?: number | undefined;
  readonly timeoutMs: number;
  readonly read: (answer: HttpAnswer) => Read<T>;
}

/** A decoded response. `charge` is undefined if the cost of the call cannot be read from the response. */
type Read<T> = (
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure; readonly value?: T }
) & { readonly charge: Charge | undefined; readonly requestId: string | undefined };

/** The parts of a sender, which do not change during a run. */
interface SenderParts {
  readonly transport: Transport;
  readonly base: BaseUrl;
  readonly key: string | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly limit: SpendLimit;
  readonly limiter: Limiter;
  readonly spend: Spend;
  readonly inFlight: InFlight;
  readonly retries: number | undefined;
  readonly maxWaitMs: number | undefined;
  readonly notify: (notice: Notice) => void;
  readonly userAgent: string | undefined;
}

type Transmission = Pick<Plan<unknown>, 'method' | 'path' | 'body' | 'timeoutMs'> & {
  readonly isFresh?: boolean | undefined;
  readonly ending?: AbortSignal | undefined;
};

/**
 * Whether losing the answer of this call would be expensive: the call may cost as much as a reveal, and is
 * never repeated.
 */
const isPrecious = ({ rule, bounds }: Plan<unknown>) =>
  rule === 'never' && (bounds?.most ?? cu.reveal) >= cu.reveal;

/** Sends planned calls. */
export function createSender(parts: SenderParts) {
  const { transport, base, key, clock, limit, limiter, spend, inFlight, notify } = parts;
  const trace = (line: string) => notify({ kind: 'trace', line: withoutKey(line, key) });

  /** Sends one request without rate limit, spending limit, retries or ledger entry. */
  async function transmit(
    plan: Transmission,
    signal?: AbortSignal,
    onSent?: () => void,
  ): Promise<HttpAnswer> {
    const secret = requireKey(key);
    // The key must be sent only in its header. Flags, files or earlier answers could also put it into the
    // path, query or body.
    if (
      withoutKey(plan.path, secret) !== plan.path ||
      withoutKey(plan.body ?? '', secret) !== (plan.body ?? '')
    ) {
      throw keyInRequest(plan.method);
    }
    const request: HttpRequest = {
      method: plan.method,
      url: `${base.origin}${base.prefix}${plan.path}`,
      headers: {
        accept: 'application/json',
        ...(plan.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(parts.userAgent ? { 'user-agent': parts.userAgent } : {}),
        authorization: `Bearer ${secret}`,
      },
      body: plan.body,
      timeoutMs: plan.timeoutMs,
      ending: plan.ending,
      isFresh: plan.isFresh,
      onSent,
    };
    trace(`> ${request.method} ${request.url}`);
    for (const [name, value] of Object.entries(request.headers)) trace(`> ${name}: ${value}`);
    const began = clock.mono();
    const took = () => `${Math.round(clock.mono() - began)} ms`;
    try {
      const answer = scrubbed(await transport.send(request, signal), key);
      trace(`< ${answer.status} in ${took()}, ${answer.text.length} characters`);
      for (const [name, value] of Object.entries(answer.headers)) trace(`< ${name}: ${value}`);
      return answer;
    } catch (error) {
      trace(`! ${error instanceof Failure ? `${error.code}: ${error.message}` : 'failed'} after ${took()}`);
      throw error;
    }
  }

  /** Sends a call once, after reserving its maximum cost. */
  async function attempt<T>(
    plan: Plan<T>,
    signal: AbortSignal | undefined,
    repeat: boolean,
  ): Promise<Outcome<T>> {
    let slot: Slot;
    try {
      slot = await spend.reserve(plan, signal, { repeat });
    } catch (error) {
      if (!(error instanceof Failure) || error.kind === 'limit') throw error;
      return { ok: false, failure: error, free: true };
    }
    const { answer, error, free: unsent } = await exchange(plan, signal);
    if (answer === undefined) {
      const failure = error instanceof Failure ? error : undefined;
      if (unsent) slot.release();
      else lose(plan, slot, failure?.status ?? null);
      if (!failure) throw error;
      return { ok: false, failure, free: unsent };
    }
    const read = plan.read(answer);
    const free = pay(plan, slot, answer.status, read);
    if (read.ok) return { ok: true, value: read.value };
    const { failure, value } = read;
    if (failure.kind === 'rate') await limiter.refused(plan.lane, waitOf(failure));
    return { ok: false, failure, free, value };
  }

  /** Sends a request. Without an answer, `free` states that the service certainly did not receive the request. */
  async function exchange(
    plan: Plan<unknown>,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly answer?: HttpAnswer; readonly error?: unknown; readonly free: boolean }> {
    let sent = false;
    let ended = () => {};
    const unsent = abortUntilSent(signal);
    const onSent = () => {
      sent = true;
      if (plan.bounds?.most === 0) return;
      unsent.sent();
      ended = inFlight.begin(plan.timeoutMs);
    };
    try {
      const request = { ...plan, ending: signal, isFresh: isPrecious(plan) };
      return { answer: await transmit(request, unsent.signal, onSent), free: false };
    } catch (error) {
      const failure = error instanceof Failure ? error : undefined;
      return { error, free: failure?.code === 'UNREACHABLE' || !(sent || failure?.kind === 'network') };
    } finally {
      unsent.sent();
      ended();
    }
  }

  /** Ends the slot of an answered call with its cost; returns whether the call was certainly free. */
  function pay<T>(plan: Plan<T>, slot: Slot, status: number, { charge, requestId }: Read<T>): boolean {
    const free = charge?.cu === 0 && !charge.uncertain;
    if (free) slot.release();
    else if (charge) {
      slot.settle({ status, cu: charge.cu, cuAtMost: charge.uncertain, requestId });
      trace(`= ${charge.cu} CU`);
    } else lose(plan, slot, status, requestId);
    return free;
  }

  /** The call may have been charged: its maximum cost counts as spent. */
  function lose(
    { endpoint, bounds }: Plan<unknown>,
    slot: Slot,
    status: number | null,
    requestId?: string,
  ): void {
    slot.lose({ status, requestId });
    if (bounds !== undefined && bounds.most > 0) notify({ kind: 'lost', endpoint, cuAtMost: bounds.most });
  }

  /**
   * Sends a call within the rate limit and the spending limit, retries it as the endpoint's retry rule
   * allows, and records it in the ledger.
   */
  const run = <T>(plan: Plan<T>, signal: AbortSignal | undefined): Promise<Outcome<T>> =>
    withRetries(
      async (previous) => {
        const again = previous !== undefined && !previous.ok && !previous.free;
        try {
          return await attempt(plan, signal, again || plan.repeat === true);
        } catch (error) {
          // Other calls have meanwhile used the amount that the repetition needs, so return the outcome of
          // the earlier attempt.
          if (again && error instanceof Failure && error.code === 'NOT_AGREED') return previous;
          throw error;
        }
      },
      {
        rule: plan.rule,
        mayPayAgain: () => limit.maxCu !== undefined || limit.affords(plan.bounds?.most ?? 0),
        retries: parts.retries ?? RETRIES,
        maxWaitMs: parts.maxWaitMs ?? MAX_WAIT_MS,
        clock,
        random: parts.random,
        notify,
        signal,
      },
    );

  return { transmit, run };
}
