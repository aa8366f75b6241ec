import { Failure, usageError } from '../../base/failure.ts';
import { parseJson } from '../../base/json.ts';
import type { Charge, PriceBounds } from '../../contract/endpoint.ts';
import type { EndpointId } from '../../contract/endpoints.ts';
import { cu, TIMEOUT_SECONDS } from '../../contract/limits.ts';
import type { CallOptions, Client } from '../../contract/ports/client.ts';
import type { HttpAnswer } from '../../contract/ports/transport.ts';
import { type FieldDifference, known, type Sent } from '../../contract/read-record.ts';
import { Me, readAccount } from '../../contract/records/account.ts';
import type { LaneName } from '../spend/rate-limiter.ts';
import { decode, type Encoded, encode } from './coding.ts';
import { readRaw } from './read-raw.ts';
import { type ClientOptions, createSender } from './sender.ts';
import { readServiceError, requestIdOf, unbilled } from './service-errors.ts';

const FREE: PriceBounds = { least: 0, most: 0, reveals: 0 };
const MINUTE: PriceBounds = { least: 0, most: cu.socketMinute, reveals: 0 };
const UNCHARGED: Charge = { cu: 0, reveals: 0 };
const laneOf = (id: EndpointId): LaneName => (id === 'user.resolve' ? 'resolve' : 'key');

/**
 * Validates calls, applies the rate limit and the spending limit, retries, and records costs in the
 * ledger.
 */
export function createClient(options: ClientOptions): Client {
  const { clock } = options;
  const { run, transmit, limiter, spend } = createSender(options, askRate);
  const { left } = spend;
  const timeoutOf = (seconds: number) => options.timeoutMs ?? seconds * 1000;

  async function askRate(signal: AbortSignal | undefined): Promise<number | null> {
    const call = encode('me', {});
    const learn = left.request();
    const { retry: rule, timeoutSeconds } = call.row;
    const answer = await transmit({ ...call, rule, timeoutMs: timeoutSeconds * 1000 }, signal);
    const read = decode({ ...call, id: 'me' }, answer, clock.now());
    if (!read.ok) return null;
    learn({ me: read.value.known });
    return rateOf(read.value.record);
  }

  const reported = new Set<string>();
  /** 10,000 records that lack the same field give a single notice. */
  function report(
    { method, path, recordType }: Encoded['row'],
    differences: readonly FieldDifference[],
  ): void {
    for (const difference of differences) {
      const name = `${recordType} ${difference.field}`;
      if (reported.has(name)) continue;
      reported.add(name);
      options.notify({ kind: 'difference', call: `${method} ${path}`, difference });
    }
  }

  return {
    bounds: (id, ask) => encode(id, ask).bounds,

    async call(id, ask, { signal, once, repeat, until }: CallOptions = {}) {
      const call = { ...encode(id, ask), id };
      const learn = left.request();
      const outcome = await run(
        {
          ...call,
          endpoint: id,
          rule: once ? 'never' : call.row.retry,
          repeat,
          lane: laneOf(id),
          until,
          timeoutMs: timeoutOf(call.row.timeoutSeconds),
          read(answer) {
            const reading = decode(call, answer, clock.now());
            if (reading.ok) report(call.row, reading.differences);
            return reading;
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
      if (!call && !isFree && options.limit.limit !== undefined) {
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
          timeoutMs: timeoutOf(call?.row.timeoutSeconds ?? TIMEOUT_SECONDS),
          read(answer) {
            const json = parseJson(answer.text);
            const requestId = requestIdOf(answer, json);
            const refusal =
              answer.status < 300 ? undefined : readServiceError(answer, json, clock.now());
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
      return spend.spent;
    },
    left,
    get ratePerMinute() {
      return limiter.rate;
    },
    affords: spend.affords,
    async close() {
      // Wait for the calls in flight: closing their connections would lose paid answers.
      await options.inFlight.idle();
      await spend.settled();
      await options.transport.close();
    },
  };
}

const rateOf = (record: Sent): number | null => readAccount(record).ratePerMinute;

const isUnbilled = ({ failure: { status = 0, code }, own }: ReturnType<typeof readServiceError>) =>
  own && (unbilled.has(status) || status >= 500 || code === 'NOT_FOUND');
