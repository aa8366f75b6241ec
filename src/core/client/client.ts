import { once } from '../../base/calls.ts';
import type { Clock } from '../../base/clock.ts';
import { Failure, usageError } from '../../base/failure.ts';
import { parseJson } from '../../base/json.ts';
import type { AnyEndpoint, PriceBounds } from '../../contract/endpoint.ts';
import type { EndpointId } from '../../contract/endpoints.ts';
import { cu, TIMEOUT_SECONDS } from '../../contract/limits.ts';
import type {
  CallOptions,
  Client,
  Remainder,
  RequestParts,
  Result,
} from '../../contract/ports/client.ts';
import type { HttpAnswer } from '../../contract/ports/transport.ts';
import { type FieldDifference, known, type Sent } from '../../contract/read-record.ts';
import { Me, readAccount } from '../../contract/records/account.ts';
import { type LaneName, Limiter } from '../spend/rate-limiter.ts';
import { RunCost, RunRemainder } from '../spend/run-cost.ts';
import { Spend } from '../spend/spend.ts';
import { Channel } from './channel.ts';
import { decode, type Encoded, encode, endpointRow, NO_CHARGE } from './coding.ts';
import { readRaw } from './read-raw.ts';
import { type ClientOptions, type PlannedSend, type Read, Sender } from './sender.ts';
import { readServiceError, requestIdOf, type ServiceError, unbilled } from './service-errors.ts';

const MINUTE: PriceBounds = { least: 0, most: cu.socketMinute, reveals: 0 };
const laneOf = (id: EndpointId): LaneName => (id === 'user.resolve' ? 'resolve' : 'key');

/**
 * Creates the client of one service with one key. It validates calls, applies the rate limit and
 * the spending limit, retries, and records costs in the ledger.
 */
export function createClient(options: ClientOptions): Client {
  const { clock, windows, notify, limit, ledger, inFlight, transport } = options;
  const cost = new RunCost();
  const left = new RunRemainder(cost);
  const channel = new Channel(options);
  const askRate = (signal: AbortSignal | undefined) => fetchRate(channel, left, clock, signal);
  const limiter = new Limiter(windows, clock, askRate, notify);
  const spend = new Spend(limit, limiter, ledger, cost, left);
  const sender = new Sender(options, channel, limiter, spend);
  const differences = new Differences(options);
  const hasAccount = once(() =>
    askRate(undefined).then(
      (rate) => rate !== null,
      () => false,
    ),
  );

  return {
    bounds: (id, ask) => encode(id, ask).bounds,

    async call(id, ask, callOptions = {}) {
      const learn = left.request();
      const plan = planCall(id, ask, callOptions, options, differences);
      const outcome = await sender.run(plan, callOptions.signal);
      if (!outcome.ok) throw await readNotFound(endpointRow(id), outcome.failure, hasAccount);
      if (id === 'me') {
        learn({ me: known(Me, outcome.value.record) });
        const rate = rateOf(outcome.value.record);
        if (rate !== null) await limiter.learn(rate);
      }
      return outcome.value;
    },

    async raw(request, { signal } = {}) {
      const outcome = await sender.run(planRaw(request, options), signal);
      if (outcome.value) return outcome.value;
      throw outcome.ok ? new Error('a response without a value') : outcome.failure;
    },

    reserveMinute: (signal) => spend.reserve({ endpoint: 'ws', bounds: MINUTE }, signal),

    get spent() {
      return spend.spent;
    },
    get trouble() {
      return sender.trouble;
    },
    left,
    get ratePerMinute() {
      return limiter.rate;
    },
    affords: (amount) => spend.affords(amount),
    async close() {
      // Wait for the calls in flight: closing their connections would lose paid answers.
      await inFlight.idle();
      await spend.settled();
      await transport.close();
    },
  };
}

/**
 * NOT_FOUND may be said of a subject that does not exist, or of a route, if the base URL is wrong:
 * then the account of the key is not there either.
 */
async function readNotFound(
  { errors }: AnyEndpoint,
  failure: Failure,
  hasAccount: () => Promise<boolean>,
): Promise<Failure> {
  if (failure.code !== 'NOT_FOUND' || !errors.includes('NOT_FOUND')) return failure;
  if (!(await hasAccount())) return failure;
  const { message, status, requestId } = failure;
  return new Failure('missing', message, { code: 'NOT_OBSERVED', status, requestId });
}

/** Fetches the limit of the key by one call of `me`, which is free and needs no permission. */
async function fetchRate(
  channel: Channel,
  left: Remainder,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<number | null> {
  const call = { ...encode('me', {}), id: 'me' as const };
  const learn = left.request();
  const { retry: rule, timeoutSeconds } = call.row;
  const answer = await channel.transmit(
    { ...call, rule, timeoutMs: timeoutSeconds * 1000 },
    signal,
  );
  const read = decode(call, answer, clock.now());
  if (!read.ok) return null;
  learn({ me: read.value.known });
  return rateOf(read.value.record);
}

function planCall<Id extends EndpointId>(
  id: Id,
  ask: RequestParts<Id>,
  { once, repeat, until, optional }: CallOptions,
  { clock, timeoutMs }: ClientOptions,
  differences: Differences,
): PlannedSend<Result<Id>> {
  const call = { ...encode(id, ask), id };
  return {
    ...call,
    endpoint: id,
    rule: once ? 'never' : call.row.retry,
    repeat,
    lane: laneOf(id),
    leaving: { until, tellsLimit: id === 'me' },
    optional,
    timeoutMs: timeoutMs ?? call.row.timeoutSeconds * 1000,
    read(answer) {
      const reading = decode(call, answer, clock.now());
      if (reading.ok) differences.report(call.row, reading.differences);
      return reading;
    },
  };
}

interface RawCall {
  readonly method: string;
  readonly path: string;
  readonly body?: string | undefined;
}

function planRaw(
  { method, path: text, body }: RawCall,
  options: ClientOptions,
): PlannedSend<HttpAnswer> {
  const { clock, limit, timeoutMs } = options;
  const { path, call, isFree, bounds } = readRaw(method, text, body);
  if (!/^[A-Z]{1,20}$/.test(method))
    throw usageError(`invalid HTTP method ${method.slice(0, 20)}`, 'write it like GET or POST');
  const isLimited = limit.limit !== undefined || limit.reveals !== undefined;
  if (!bounds && isLimited) throw unknownCost(method, path);
  return {
    endpoint: call?.id ?? `${method} ${path.split('?')[0]}`.slice(0, 100),
    method,
    path,
    body,
    bounds,
    // Do not retry a call of unknown price: the user confirmed a single call.
    rule: call?.row.retry ?? (isFree ? 'repeat' : 'never'),
    lane: call ? laneOf(call.id) : 'key',
    timeoutMs: timeoutMs ?? (call?.row.timeoutSeconds ?? TIMEOUT_SECONDS) * 1000,
    read: (answer) => readRawAnswer(answer, call, isFree, clock.now()),
  };
}

/** Reads an answer as it is. Its price is known if it is that of an endpoint, or if it is free. */
function readRawAnswer(
  answer: HttpAnswer,
  call: Encoded | undefined,
  isFree: boolean,
  now: number,
): Read<HttpAnswer> {
  const json = parseJson(answer.text);
  const requestId = requestIdOf(answer, json);
  const refusal = answer.status < 300 ? undefined : readServiceError(answer, json, now);
  const isUncharged = isFree || (refusal !== undefined && isUnbilled(refusal));
  const unpriced = isUncharged ? NO_CHARGE : undefined;
  const charge = call ? decode(call, answer, now).charge : unpriced;
  if (!refusal) return { ok: true, value: answer, charge, requestId };
  return { ok: false, failure: refusal.failure, value: answer, charge, requestId };
}

const unknownCost = (method: string, path: string) =>
  new Failure(
    'limit',
    `the cost of ${method} ${path} is unknown, so trdr cannot keep it within the spending limit`,
    {
      code: 'CEILING',
      hint: 'to send the call, remove the limits (--max-cu, --max-reveals, the setting maxCu) and pass --yes',
    },
  );

/**
 * Reports each field once per run: 10,000 records that lack the same field give a single notice.
 */
class Differences {
  readonly #notify: ClientOptions['notify'];
  readonly #reported = new Set<string>();

  constructor({ notify }: ClientOptions) {
    this.#notify = notify;
  }

  report(
    { method, path, recordType }: Encoded['row'],
    differences: readonly FieldDifference[],
  ): void {
    for (const difference of differences) {
      const name = `${recordType} ${difference.field}`;
      if (this.#reported.has(name)) continue;
      this.#reported.add(name);
      this.#notify({ kind: 'difference', call: `${method} ${path}`, difference });
    }
  }
}

const rateOf = (record: Sent): number | null => readAccount(record).ratePerMinute;

/** Whether an error response is documented as free at all endpoints. */
const isUnbilled = ({ failure: { status = 0, code }, own }: ServiceError) =>
  own && (unbilled.has(status) || status >= 500 || code === 'NOT_FOUND');
