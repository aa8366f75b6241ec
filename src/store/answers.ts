import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import { parseJson, stringifyJson } from '../base/json.ts';
import type { AnswerCache, AnswerFlight, CachedAnswer, CachedEndpoint } from '../contract/ports.ts';
import { unusable } from './failures.ts';
import type { StoreLink } from './link.ts';
import { ask, failScript, fill } from './scripts/answers.ts';

export interface SharedAnswersOptions {
  readonly link: StoreLink;
  /** The answers of this machine, which are looked at first. */
  readonly local: AnswerCache;
  /** The API key: answers in the store are sealed with it, so that nobody without it can plant one. */
  readonly key: string;
  readonly clock: Clock;
  readonly random: () => number;
}

const KEEP_MS = 30 * 86_400_000;
/** A flight whose machine died is taken over after this long. */
const FLIGHT_MS = 5_000;
const RENEW_MS = 1_500;
const FAILED_MS = 2_000;
const POLL_MS = 100;
/** Longer than any call takes; after that a waiting machine sends the call itself. */
const PATIENCE_MS = 120_000;
/** Larger than any record there is. */
const LONGEST = 256 * 1024;

/** Answers of all machines behind those of this one. It never fails a lookup: without the store, each asks itself. */
export function createSharedAnswers({ link, local, key, clock, random }: SharedAnswersOptions): AnswerCache {
  const { keys } = link;
  const tokens = new Map<string, string>();
  const nameOf = (endpoint: string, subject: string) => `${endpoint}\n${subject}`;

  const seal = (endpoint: string, subject: string, status: string, time: string, record: string) =>
    createHmac('sha256', key).update([endpoint, subject, status, time, record].join('\n')).digest('hex');

  /** The answer of an entry, or undefined where its seal or its form is wrong. */
  function open(endpoint: string, subject: string, entry: readonly unknown[]): CachedAnswer | undefined {
    const [status = '', time = '', record = '', given = ''] = entry.map(String);
    const wanted = Buffer.from(seal(endpoint, subject, status, time, record));
    const found = Buffer.from(given);
    if (found.length !== wanted.length || !timingSafeEqual(found, wanted)) return undefined;
    if (status === '404') return { time: Number(time), status: 404, record: null };
    return status === '200' ? { time: Number(time), status: 200, record: parseJson(record) } : undefined;
  }

  async function share(endpoint: CachedEndpoint, subject: string, answer: CachedAnswer): Promise<void> {
    const record = answer.status === 200 ? stringifyJson(answer.record) : '';
    if (record.length > LONGEST) return;
    const [status, time] = [String(answer.status), String(answer.time)];
    const token = tokens.get(nameOf(endpoint, subject)) ?? '';
    const places = [keys.answer(endpoint, subject), keys.flight(endpoint, subject)];
    const values = [token, KEEP_MS, status, time, record, seal(endpoint, subject, status, time, record)];
    await link.use((store) => store.run(fill, places, values)).catch(ignoreAway);
  }

  /** Tells those who wait that nothing comes of it; without a failure, one of them asks next. */
  async function give(place: string, token: string, failure: Failure | undefined): Promise<void> {
    const told = failure === undefined ? '' : JSON.stringify(fieldsOf(failure));
    await link
      .use((store) => store.run(failScript, [place], [token, told, failure === undefined ? 0 : FAILED_MS]))
      .catch(ignoreAway);
  }

  const flight: AnswerFlight = async (wanted, work, signal) => {
    const { endpoint, subject, maxAgeMs, missAgeMs } = wanted;
    const token = randomUUID();
    const places = [keys.answer(endpoint, subject), keys.flight(endpoint, subject)];
    const look = () =>
      link
        .use((store) => store.run(ask, places, [token, maxAgeMs, missAgeMs, FLIGHT_MS]))
        .then(listOf, (error) => {
          ignoreAway(error);
          return [];
        });
    const began = clock.mono();
    for (;;) {
      const [word, ...rest] = await look();
      if (word === 'hit') {
        const answer = open(endpoint, subject, rest);
        if (answer) await local.put(endpoint, subject, answer);
        if (answer) return answer;
      }
      if (word === 'failed') {
        const failure = failureFrom(String(rest[0]));
        if (failure) return failure;
      }
      if (word !== 'wait' || clock.mono() - began > PATIENCE_MS) break;
      await clock.sleep(POLL_MS * (0.5 + random()), signal);
    }
    const [, place = ''] = places;
    tokens.set(nameOf(endpoint, subject), token);
    const done = new AbortController();
    void renewing(look, done.signal);
    let failure: Failure | undefined;
    try {
      failure = await work();
    } finally {
      done.abort();
      tokens.delete(nameOf(endpoint, subject));
      await give(place, token, failure);
    }
    return undefined;
  };

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
  };
}

const listOf = (answer: unknown): readonly unknown[] => (Array.isArray(answer) ? answer : []);

function ignoreAway(error: unknown): void {
  if (!unusable(error)) throw error;
}

const fieldsOf = ({ kind, code, message, status, retryable, retryAfter, hint }: Failure) => ({
  ...{ kind, code, message, status, retryable, retryAfter, hint },
});

/** Only failures that concern the service are shared: those of a key or a budget may be of one machine alone. */
const shared = new Set<string>(['service', 'network', 'answer', 'rate']);

/** A failure that another machine met; its text is cut, since anyone with a right to write can put one there. */
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
