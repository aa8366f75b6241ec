import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import type { Bounds, Charge, RetryRule } from '../../contract/endpoint.ts';
import type { Careful, HttpAnswer, HttpRequest, Ledger, Notice, Transport } from '../../contract/ports.ts';
import type { BaseUrl } from '../http/base-url.ts';
import { abortUntilSent, type InFlight } from './in-flight.ts';
import { type LaneName, type Limiter, MAX_WAIT_MS } from './limiter.ts';
import { withoutKey } from './mask-key.ts';
import { type Outcome, RETRIES, waitOf, withRetries } from './retry.ts';
import type { Reservation, SpendLimit } from './spend-limit.ts';

/** A call of any origin, ready to be sent. */
interface Plan<T> {
  /** As the ledger names it. */
  readonly endpoint: string;
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  readonly bounds: Bounds;
  /** A call of unknown price, which `bounds` cannot tell from a free one. */
  readonly mayCost?: boolean;
  readonly rule: RetryRule;
  readonly careful?: Careful | undefined;
  readonly lane: LaneName;
  readonly timeoutMs: number;
  readonly read: (answer: HttpAnswer) => Read<T>;
}

/** What an answer amounts to. `charge` is undefined where it can't be told what the call cost. */
type Read<T> = (
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure; readonly value?: T }
) & { readonly charge: Charge | undefined; readonly requestId: string | undefined };

/** What sending takes, settled once for a run. */
export interface SenderParts {
  readonly transport: Transport;
  readonly base: BaseUrl;
  readonly key: string | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly budget: SpendLimit;
  readonly limiter: Limiter;
  readonly ledger: Ledger | undefined;
  readonly inFlight: InFlight;
  readonly command: string;
  readonly profile: string;
  readonly retries: number | undefined;
  readonly maxWaitMs: number | undefined;
  readonly notify: (notice: Notice) => void;
  readonly userAgent: string | undefined;
}

/** Sends planned calls. */
export interface Sender {
  /** Sends one request as it is: no limit, ceiling, retry or ledger. */
  transmit(plan: Transmission, signal?: AbortSignal, onSent?: () => void): Promise<HttpAnswer>;
  /** Sends a call within limit and ceiling, retries it as its rule allows, and enters it in the ledger. */
  run<T>(plan: Plan<T>, signal: AbortSignal | undefined): Promise<Outcome<T>>;
}

type Transmission = Pick<Plan<unknown>, 'method' | 'path' | 'body' | 'timeoutMs'>;

export function createSender(parts: SenderParts): Sender {
  const { transport, base, key, clock, budget, limiter, ledger, inFlight, notify } = parts;
  const trace = (line: string) => notify({ kind: 'trace', line: withoutKey(line, key) });

  async function transmit(
    plan: Transmission,
    signal?: AbortSignal,
    onSent?: () => void,
  ): Promise<HttpAnswer> {
    const secret = requireKey(key);
    // Whatever was read from flags, files or answers: the key is sent in its header and nowhere else.
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
      trace(`! ${error instanceof Failure ? `${error.code}: ${error.message}` : 'ended'} after ${took()}`);
      throw error;
    }
  }

  function record<T>(
    plan: Plan<T>,
    status: number | null,
    cu: number,
    cuAtMost?: number,
    requestId?: string,
  ) {
    if (cu === 0 && !cuAtMost) return;
    ledger?.append({
      time: clock.now(),
      command: parts.command,
      profile: parts.profile,
      endpoint: plan.endpoint,
      status,
      cu,
      ...(cuAtMost === undefined ? {} : { cuAtMost }),
      ...(requestId === undefined ? {} : { requestId }),
    });
  }

  /** The call may have been charged, and nothing tells how much. */
  function lose<T>(plan: Plan<T>, reservation: Reservation, status: number | null, requestId?: string) {
    if (plan.bounds.most === 0) return reservation.release();
    reservation.lose();
    record(plan, status, 0, plan.bounds.most, requestId);
    notify({ kind: 'lost', endpoint: plan.endpoint, cuAtMost: plan.bounds.most });
  }

  const isUncharged = async (
    plan: Plan<unknown>,
    lost: Failure | undefined,
    agoMs: number,
  ): Promise<boolean> => lost !== undefined && ((await plan.careful?.uncharged(lost, agoMs)) ?? false);

  async function attempt<T>(plan: Plan<T>, signal: AbortSignal | undefined): Promise<Outcome<T>> {
    const reservation = await budget.reserve(plan.bounds, signal);
    const paid = plan.bounds.most > 0 || plan.mayCost === true;
    let unsent: ReturnType<typeof abortUntilSent> | undefined;
    let sentAt: number | undefined;
    let settled = () => {};
    const agoMs = () => (sentAt === undefined ? 0 : clock.mono() - sentAt);
    let answer: HttpAnswer;
    try {
      await limiter.acquire(plan.lane, signal);
      signal?.throwIfAborted();
      unsent = abortUntilSent(signal);
      answer = await transmit(plan, unsent.signal, () => {
        sentAt = clock.mono();
        if (!paid) return;
        unsent?.sent();
        settled = inFlight.begin(plan.timeoutMs);
      });
    } catch (error) {
      unsent?.sent();
      settled();
      const known = error instanceof Failure ? error : undefined;
      // A redirect is an answer, and what answered so has served nothing.
      const free =
        known?.code === 'REDIRECT' ||
        known?.code === 'UNREACHABLE' ||
        !(sentAt !== undefined || known?.kind === 'network') ||
        (await isUncharged(plan, known, agoMs()));
      if (free) reservation.release();
      else lose(plan, reservation, known?.status ?? null);
      if (!known) throw error;
      return { ok: false, failure: known, free };
    }
    unsent.sent();
    settled();
    const read = plan.read(answer);
    const { requestId } = read;
    let free = read.charge?.cu === 0;
    if (read.charge) {
      reservation.settle(read.charge.cu);
      record(plan, answer.status, read.charge.cu, undefined, requestId);
      trace(`= ${read.charge.cu} CU`);
    } else if (!read.ok && (await isUncharged(plan, read.failure, agoMs()))) {
      reservation.release();
      free = true;
    } else {
      lose(plan, reservation, answer.status, requestId);
    }
    if (read.ok) return { ok: true, value: read.value };
    const { failure, value } = read;
    if (failure.kind === 'rate') await limiter.refused(plan.lane, waitOf(failure));
    return { ok: false, failure, free, value };
  }

  const run = <T>(plan: Plan<T>, signal: AbortSignal | undefined): Promise<Outcome<T>> =>
    withRetries(() => attempt(plan, signal), {
      rule: plan.rule,
      retries: parts.retries ?? RETRIES,
      maxWaitMs: parts.maxWaitMs ?? MAX_WAIT_MS,
      clock,
      random: parts.random,
      notify,
      signal,
    });

  return { transmit, run };
}

/** The key, or what to do where there is none that could be sent. */
export function requireKey(key: string | undefined): string {
  if (!key) {
    throw new Failure('auth', 'no API key is set', {
      code: 'NO_KEY',
      hint: 'keep one with trdr auth login, or set TRDR_API_KEY; without a key there is --sandbox',
    });
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new Failure('auth', 'the API key holds characters that no key has', {
      code: 'BAD_KEY',
      hint: 'keep it anew with trdr auth login',
    });
  }
  return key;
}

const keyInRequest = (method: string) =>
  new Failure('usage', `this ${method} request would contain your API key; nothing was sent`, {
    code: 'KEY_IN_REQUEST',
    hint: 'check the command line and the input for a pasted key',
  });

/** An answer that repeats the key does not get further than here. */
function scrubbed(answer: HttpAnswer, key: string | undefined): HttpAnswer {
  if (!key) return answer;
  const headers = Object.entries(answer.headers).map(([name, value]) => [name, withoutKey(value, key)]);
  return { status: answer.status, headers: Object.fromEntries(headers), text: withoutKey(answer.text, key) };
}
