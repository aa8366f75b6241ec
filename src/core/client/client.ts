import { type Clock, systemClock } from '../../base/clock.ts';
import { Failure, usageError } from '../../base/failure.ts';
import { parseJson } from '../../base/json.ts';
import type { Charge, PriceBounds } from '../../contract/endpoint.ts';
import type { EndpointId } from '../../contract/endpoints.ts';
import { TIMEOUT_SECONDS } from '../../contract/limits.ts';
import type {
  CallOptions,
  Client,
  HttpAnswer,
  Ledger,
  Notice,
  RateWindows,
  Transport,
} from '../../contract/ports.ts';
import { cu } from '../../contract/prices.ts';
import { type FieldDifference, known, type Sent } from '../../contract/read-record.ts';
import { Me, readAccount } from '../../contract/records/account.ts';
import { parseBaseUrl } from '../http/base-url.ts';
import { createSpendLimit, type SpendLimit } from '../spend/limit.ts';
import { createLimiter, type LaneName } from '../spend/rate-limiter.ts';
import { createRemainder } from '../spend/remainder.ts';
import { createSpend } from '../spend/spend.ts';
import { decode, type Encoded, encode } from './coding.ts';
import { createInFlight, type InFlight } from './in-flight.ts';
import { readRaw } from './read-raw.ts';
import { requireKey } from './request-key.ts';
import { createSender } from './sender.ts';
import { readServiceError, requestIdOf, type ServiceError, unbilled } from './service-errors.ts';

export interface ClientOptions {
  readonly transport: Transport;
  readonly baseUrl: string;
  /** The API key. If undefined, every call fails with an `auth` Failure before anything is sent. */
  readonly key: string | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
  /** The rate limits of this base URL and key. */
  readonly windows: RateWindows;
  readonly limit?: SpendLimit | undefined;
  readonly ledger?: Ledger | undefined;
  /** Counts the paid calls in flight, so that a shutdown can wait for them. */
  readonly inFlight?: InFlight | undefined;
  readonly retries?: number | undefined;
  /** For each call: the maximum total of the waits after 429s, and the maximum of any other wait before a retry. */
  readonly maxWaitMs?: number | undefined;
  /** Timeout of requests; by default, the timeout of their endpoint. */
  readonly timeoutMs?: number | undefined;
  readonly notify?: ((notice: Notice) => void) | undefined;
  readonly userAgent?: string | undefined;
  readonly insecureHttp?: boolean | undefined;
}

const FREE: PriceBounds = { least: 0, most: 0, reveals: 0 };
const MINUTE: PriceBounds = { least: 0, most: cu.socketMinute, reveals: 0 };
const UNCHARGED: Charge = { cu: 0, reveals: 0 };
const laneOf = (id: EndpointId): LaneName => (id === 'user.resolve' ? 'resolve' : 'key');

/**
 * A client of one service with one key. It validates calls, applies the rate limit and the spending limit,
 * retries, and records costs in the ledger.
 */
export function createClient(options: ClientOptions): Client {
  const { transport, key } = options;
  const clock = options.clock ?? systemClock;
  const limit = options.limit ?? createSpendLimit();
  const inFlight = options.inFlight ?? createInFlight();
  const notify = options.notify ?? (() => {});
  const base = parseBaseUrl(options.baseUrl, { insecureHttp: options.insecureHttp });
  const limiter = createLimiter({
    windows: options.windows,
    clock,
    askRate,
    notify,
  });
  const spend = createSpend(limit, limiter, options.ledger);
  const left = createRemainder(() => limit.spent);
  const { run, transmit } = createSender({
    transport,
    base,
    key,
    clock,
    random: options.random ?? Math.random,
    limit,
    limiter,
    spend,
    inFlight,
    retries: options.retries,
    maxWaitMs: options.maxWaitMs,
    notify,
    userAgent: options.userAgent,
  });

  async function askRate(): Promise<number | null> {
    const call = encode('me', {});
    const learn = left.request();
    const answer = await transmit({ ...call, timeoutMs: call.row.timeoutSeconds * 1000 });
    const read = decode({ ...call, id: 'me' }, answer, clock.now());
    if (!read.ok) return null;
    learn({ me: read.result.known });
    return rateOf(read.result.record);
  }

  const reported = new Set<string>();
  /**
   * Reports each field of a record type only once: 10,000 records that lack the same field give a single
   * notice.
   */
  function report(
    { method, path, recordType }: Encoded['row'],
    differences: readonly FieldDifference[],
  ): void {
    for (const difference of differences) {
      const name = `${recordType} ${difference.field}`;
      if (reported.has(name)) continue;
      reported.add(name);
      notify({ kind: 'difference', call: `${method} ${path}`, difference });
    }
  }

  return {
    bounds: (id, ask) => encode(id, ask).bounds,

    async call(id, ask, { signal, once, repeat, until }: CallOptions = {}) {
      const call = { ...encode(id, ask), id };
      requireKey(key);
      const learn = left.request();
      const outcome = await run(
        {
          ...call,
          endpoint: id,
          rule: once ? 'never' : call.row.retry,
          repeat,
          lane: laneOf(id),
          until,
          timeoutMs: options.timeoutMs ?? call.row.timeoutSeconds * 1000,
          read(answer) {
            const reading = decode(call, answer, clock.now());
            if (reading.ok) report(call.row, reading.differences);
            return reading.ok
              ? {
                  ok: true,
                  value: reading.result,
                  charge: reading.charge,
                  requestId: reading.result.requestId,
                }
              : { ...reading, requestId: reading.failure.requestId };
          },
        },
        signal,
      );
      if (!outcome.ok) throw outcome.failure;
      if (id === 'me') {
        learn({ me: known(Me, outcome.value.record) });
        const rate = rateOf(outcome.value.record);
        if (rate !== null) await limiter.learn(rate);
      }
      return outcome.value;
    },

    async raw({ method, path: given, body }, { signal }: CallOptions = {}) {
      const { path, call, isFree } = readRaw(method, given, body);
      if (!/^[A-Z]{1,20}$/.test(method))
        throw usageError(`invalid HTTP method ${method.slice(0, 20)}`, 'write it like GET or POST');
      requireKey(key);
      if (!call && !isFree && limit.maxCu !== undefined) {
        throw new Failure(
          'limit',
          `the cost of ${method} ${path} is unknown, so trdr cannot keep it within the spending limit`,
          {
            code: 'CEILING',
            hint: 'to send the call, remove the spending limit (--max-cu or the setting maxCu) and pass --yes',
          },
        );
      }
      const outcome = await run<HttpAnswer>(
        {
          endpoint: call?.id ?? `${method} ${path.split('?')[0]}`.slice(0, 100),
          method,
          path,
          body,
          bounds: call?.bounds ?? (isFree ? FREE : undefined),
          // Do not retry a call of unknown price: the user confirmed a single call.
          rule: call?.row.retry ?? (isFree ? 'repeat' : 'never'),
          lane: call ? laneOf(call.id) : 'key',
          timeoutMs: options.timeoutMs ?? (call ? call.row.timeoutSeconds * 1000 : TIMEOUT_SECONDS * 1000),
          read(answer) {
            const json = parseJson(answer.text);
            const requestId = requestIdOf(answer, json);
            const refusal = answer.status < 300 ? undefined : readServiceError(answer, json, clock.now());
            const charge = call
              ? decode(call, answer, clock.now()).charge
              : isFree || (refusal && isUnbilled(refusal))
                ? UNCHARGED
                : undefined;
            if (!refusal) return { ok: true, value: answer, charge, requestId };
            return { ok: false, failure: refusal.failure, value: answer, charge, requestId };
          },
        },
        signal,
      );
      if (outcome.value) return outcome.value;
      throw outcome.ok ? new Error('a response without a value') : outcome.failure;
    },

    reserveMinute: (signal) => spend.reserve({ endpoint: 'ws', bounds: MINUTE }, signal),

    get spent() {
      return limit.spent;
    },
    left,
    get ratePerMinute() {
      return limiter.rate;
    },
    affords: limit.affords,
    async close() {
      // Wait for the calls in flight: closing their connections would lose paid answers.
      await inFlight.idle();
      await spend.settled();
      await transport.close();
    },
  };
}

const rateOf = (record: Sent): number | null => readAccount(record).ratePerMinute;

/** Whether every endpoint documents this error response as free. */
const isUnbilled = ({ failure: { status = 0, code }, own }: ServiceError) =>
  own && (unbilled.has(status) || status >= 500 || code === 'NOT_FOUND');
