import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import { parseJson, stringifyJson } from '../base/json.ts';
import type {
  AnswerCache,
  AnswerFlight,
  CachedEndpoint,
  Claim,
  SharedAnswer,
  SharedEndpoint,
  WantedAnswer,
} from '../contract/answer-ports.ts';
import { unusable } from './failures.ts';
import type { StoreLink } from './link.ts';
import { ask, failScript, fill } from './scripts/answers.ts';

export interface SharedAnswersOptions {
  readonly link: StoreLink;
  /** The answers of this machine, which are tried first. */
  readonly local: AnswerCache;
  /** The API key. Answers in the store are signed with it, so that nobody without it can forge one. */
  readonly key: string;
  readonly clock: Clock;
  readonly random: () => number;
}

const KEEP_MS = 30 * 86_400_000;
/** Answers that are shared and not cached are wanted by machines that ask at the same time. */
const KEEP_SHORTLY_MS = 60_000;
/** A flight whose machine died is taken over after this long. */
const FLIGHT_MS = 5_000;
const RENEW_MS = 1_500;
const FAILED_MS = 2_000;
const POLL_MS = 100;
/** Longer than any call takes; then a waiting machine sends the call itself. */
const WAIT_MS = 120_000;
/** Larger than any record. */
const LONGEST = 256 * 1024;

/**
 * The answers of all machines, behind those of this one. It never fails a lookup: without the store, each
 * machine sends its own requests.
 */
export function createSharedAnswers({ link, local, key, clock, random }: SharedAnswersOptions): AnswerCache {
  const { keys } = link;
  const tokens = new Map<string, string>();
  /** Why the store accepts no answers; thrown before the next request, because this one was paid for. */
  let refusal: Failure | undefined;
  const noteRefusal = (error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    if (!unusable(error)) refusal = error;
  };
  const nameOf = (endpoint: string, subject: string) => `${endpoint}\n${subject}`;

  const seal = (endpoint: string, subject: string, status: string, time: string, record: string) =>
    createHmac('sha256', key).update([endpoint, subject, status, time, record].join('\n')).digest('hex');

  /** The answer of an entry; undefined if its signature or form is invalid. */
  function open(endpoint: string, subject: string, entry: readonly unknown[]): SharedAnswer | undefined {
    const [status = '', time = '', record = '', given = ''] = entry.map(String);
    const wanted = Buffer.from(seal(endpoint, subject, status, time, record));
    const found = Buffer.from(given);
    if (found.length !== wanted.length || !timingSafeEqual(found, wanted)) return undefined;
    if (status === '404') return { time: Number(time), status: 404, record: null };
    if (status !== '200' && status !== '202') return undefined;
    return { time: Number(time), status: status === '200' ? 200 : 202, record: parseJson(record) };
  }

  async function share(endpoint: SharedEndpoint, subject: string, answer: SharedAnswer): Promise<void> {
    const record = answer.status === 404 ? '' : stringifyJson(answer.record);
    if (record.length > LONGEST) return;
    const [status, time] = [String(answer.status), String(answer.time)];
    const token = tokens.get(nameOf(endpoint, subject)) ?? '';
    const places = [keys.answer(endpoint, subject), keys.flight(endpoint, subject)];
    const keepMs = isCached(endpoint) ? KEEP_MS : KEEP_SHORTLY_MS;
    const values = [token, keepMs, status, time, record, seal(endpoint, subject, status, time, record)];
    await link.use((store) => store.run(fill, places, values)).catch(noteRefusal);
  }

  /** Ends a flight without an answer. Without a failure, one of the waiting machines requests next. */
  async function give(place: string, token: string, failure: Failure | undefined): Promise<void> {
    const failureText = failure === undefined ? '' : JSON.stringify(fieldsOf(failure));
    await link
      .use((store) =>
        store.run(failScript, [place], [token, failureText, failure === undefined ? 0 : FAILED_MS]),
      )
      .catch(noteRefusal);
  }

  /** A look at an answer under one token: the first word of the reply, and what belongs to it. */
  function looking({ endpoint, subject, maxAgeMs, missAgeMs }: WantedAnswer) {
    const token = randomUUID();
    const places = [keys.answer(endpoint, subject), keys.flight(endpoint, subject)];
    const look = async () => {
      if (refusal) throw refusal;
      return await link
        .use((store) => store.run(ask, places, [token, maxAgeMs, missAgeMs, FLIGHT_MS]))
        .then(listOf, (error) => {
          ignoreAway(error);
          return [];
        });
    };

    async function read(): Promise<{ word: unknown; answer?: SharedAnswer; failure?: Failure }> {
      const [word, ...rest] = await look();
      const answer = word === 'hit' ? open(endpoint, subject, rest) : undefined;
      const failure = word === 'failed' ? failureFrom(String(rest[0])) : undefined;
      if (answer && answer.status !== 202 && isCached(endpoint)) {
        await local.put(endpoint, subject, { ...answer, status: answer.status });
      }
      return { word, ...(answer && { answer }), ...(failure && { failure }) };
    }

    /** Renews the claim until it ends. Without a store, there is nothing to renew. */
    function hold(): (failure?: Failure) => Promise<void> {
      const [, place = ''] = places;
      tokens.set(nameOf(endpoint, subject), token);
      const done = new AbortController();
      void renewing(look, done.signal);
      return async (failure) => {
        done.abort();
        tokens.delete(nameOf(endpoint, subject));
        await give(place, token, failure);
      };
    }
    return { read, hold };
  }

  const flight: AnswerFlight = async (wanted, work, signal) => {
    const { read, hold } = looking(wanted);
    const { waitMs = WAIT_MS } = wanted;
    const began = clock.mono();
    for (;;) {
      const { word, answer, failure } = await read();
      if (answer ?? failure) return answer ?? failure;
      if (word !== 'wait' || clock.mono() - began > waitMs) break;
      await clock.sleep(POLL_MS * (0.5 + random()), signal);
    }
    const end = hold();
    let outcome: Failure | SharedAnswer | undefined;
    try {
      outcome = await work();
      if (outcome && !(outcome instanceof Failure)) await share(wanted.endpoint, wanted.subject, outcome);
    } finally {
      await end(outcome instanceof Failure ? outcome : undefined);
    }
    return undefined;
  };

  /** A failure of another machine is not passed on: it may concern one other handle of its batch. */
  async function claim(wanted: WantedAnswer): Promise<Claim> {
    const { read, hold } = looking(wanted);
    const { word, answer } = await read();
    if (answer) return { by: 'cache', answer };
    if (word === 'wait' || word === 'failed') return { by: 'other' };
    const end = hold();
    return { by: 'us', end: () => end() };
  }

  async function renewing(look: () => Promise<unknown>, until: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await clock.sleep(RENEW_MS, until);
        await look();
      }
    } catch {
      // The call is over.
    }
  }

  return {
    get: (endpoint, subject) => local.get(endpoint, subject),
    async put(endpoint, subject, answer) {
      await local.put(endpoint, subject, answer);
      await share(endpoint, subject, answer);
    },
    flight,
    claim,
  };
}

const isCached = (endpoint: SharedEndpoint): endpoint is CachedEndpoint =>
  endpoint !== 'me' && endpoint !== 'user.resolve';

const listOf = (answer: unknown): readonly unknown[] => (Array.isArray(answer) ? answer : []);

function ignoreAway(error: unknown): void {
  if (!unusable(error)) throw error;
}

const fieldsOf = ({ kind, code, message, status, retryable, retryAfter, hint }: Failure) => ({
  kind,
  code,
  message,
  status,
  retryable,
  retryAfter,
  hint,
});

/** Only failures of the service are shared; those of a key or a budget may concern one machine only. */
const shared = new Set<string>(['service', 'network', 'answer', 'rate']);

/**
 * A failure that another machine received. Its text is cut and cleaned, because anybody with write access
 * can put it there.
 */
function failureFrom(text: string): Failure | undefined {
  const value = quietly(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const { kind, code, message, status }: Partial<Record<string, unknown>> = { ...value };
  if (
    typeof kind !== 'string' ||
    !shared.has(kind) ||
    typeof code !== 'string' ||
    typeof message !== 'string'
  ) {
    return undefined;
  }
  return new Failure(
    kind === 'answer' ? 'answer' : 'service',
    message.replace(/[^\x20-\x7e]/g, '?').slice(0, 200),
    {
      code: code.replace(/[^A-Z0-9_]/g, '').slice(0, 40),
      retryable: true,
      ...(typeof status === 'number' && { status }),
      hint: 'another machine asked a moment ago; try again',
    },
  );
}

function quietly(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
