import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import { parseJson, stringifyJson } from '../base/json.ts';
import { parseObject } from '../base/json-object.ts';
import type {
  AnswerCache,
  CachedEndpoint,
  EndClaim,
  SharedAnswer,
  SharedEndpoint,
  WantedAnswer,
} from '../contract/ports/answers.ts';
import { listReply, number, serverNow } from './connection.ts';
import { ignoreUnusable, unusable } from './failures.ts';
import type { StoreMember } from './link.ts';
import { answerScripts } from './scripts/answers.ts';

const KEEP_MS = 30 * 86_400_000;
/** For machines that request an answer that is not cached at the same time. */
const KEEP_SHORTLY_MS = 60_000;
/** If a machine stops responding while it requests an answer, another one then requests it. */
const CLAIM_MS = 5_000;
const RENEW_MS = 1_500;
/** For the machines that wait for the answer. */
const FAILED_MS = 2_000;
const POLL_MS = 100;
/** By default. After that, this machine sends the call itself. */
const WAIT_MS = 150_000;
/** In characters. Longer records are not shared. */
const LONGEST = 256 * 1024;

interface Found {
  readonly answer?: SharedAnswer;
  readonly failure?: Failure | undefined;
  readonly waits?: boolean;
}

/**
 * Answers are signed with the key, so that only its machines can write them. Without the store,
 * each requests its own.
 */
export function createSharedAnswers(
  link: StoreMember['link'],
  local: AnswerCache,
  key: string,
  clock: Clock,
  random: () => number,
): AnswerCache {
  const { keys } = link;
  const tokens = new Map<string, string>();
  /**
   * Why the store rejected a paid answer, which must still be returned; thrown before the next
   * request.
   */
  let refusal: Failure | undefined;
  const noteRefusal = (error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    if (!unusable(error)) refusal = error;
  };
  const nameOf = (endpoint: string, subject: string) => `${endpoint}\n${subject}`;

  async function share(
    endpoint: SharedEndpoint,
    subject: string,
    answer: SharedAnswer,
  ): Promise<void> {
    const record = answer.status === 404 ? '' : stringifyJson(answer.record);
    if (record.length > LONGEST) return;
    const status = String(answer.status);
    const ageMs = Math.max(0, clock.now() - answer.time);
    const token = tokens.get(nameOf(endpoint, subject)) ?? '';
    const places = [keys.answer(endpoint, subject), keys.claim(endpoint, subject)];
    const keepMs = isCached(endpoint) ? KEEP_MS : KEEP_SHORTLY_MS;
    await link
      .use(async (store) => {
        const time = String((await serverNow(store)) - ageMs);
        const signature = seal(key, [endpoint, subject, status, time, record]);
        return store.run(answerScripts.fill, places, [
          token,
          keepMs,
          status,
          time,
          record,
          signature,
        ]);
      })
      .catch(noteRefusal);
  }

  /**
   * Reads an answer or a failure, or claims the answer. The script discards an entry that was found
   * `damaged`.
   */
  async function read(wanted: WantedAnswer, token: string, damaged?: string): Promise<Found> {
    const [word, ...rest] = await look(wanted, token, damaged);
    const { endpoint, subject } = wanted;
    if (word === 'hit') {
      const [status = '', time = '', record = '', signature = '', age] = rest.map(String);
      const isOwn = isEqual(signature, seal(key, [endpoint, subject, status, time, record]));
      // The script returns the age too, because `time` is that of the server's clock.
      const answer = isOwn && readAnswer(status, record, clock.now() - Math.max(0, number(age)));
      if (!answer) return damaged === undefined ? read(wanted, token, signature) : {};
      if (answer.status !== 202 && isCached(endpoint))
        await local.put(endpoint, subject, { ...answer, status: answer.status });
      return { answer };
    }
    if (word !== 'failed') return { waits: word === 'wait' };
    const failure = readFailure(String(rest[0]));
    if (!failure && damaged === undefined) return read(wanted, token, `!${rest[0]}`);
    return { failure };
  }

  async function look(
    wanted: WantedAnswer,
    token: string,
    damaged = '',
  ): Promise<readonly unknown[]> {
    if (refusal) throw refusal;
    const { endpoint, subject, maxAgeMs, missAgeMs } = wanted;
    const places = [keys.answer(endpoint, subject), keys.claim(endpoint, subject)];
    return listReply(
      await link
        .run(answerScripts.ask, places, [token, maxAgeMs, missAgeMs, CLAIM_MS, damaged])
        .catch(ignoreUnusable),
    );
  }

  /** Renews the claim until the returned function ends it. */
  function hold(wanted: WantedAnswer, token: string): EndClaim {
    const { endpoint, subject } = wanted;
    tokens.set(nameOf(endpoint, subject), token);
    const done = new AbortController();
    void renewing(() => look(wanted, token), done.signal);
    return async (outcome) => {
      done.abort();
      const failure = outcome instanceof Failure ? failureText(outcome) : '';
      if (outcome && !(outcome instanceof Failure)) await share(endpoint, subject, outcome);
      tokens.delete(nameOf(endpoint, subject));
      // Without a failure, one of the waiting machines requests the answer, unless it was shared.
      const values = [token, failure, failure === '' ? 0 : FAILED_MS];
      await link
        .run(answerScripts.fail, [keys.claim(endpoint, subject)], values)
        .catch(noteRefusal);
    };
  }

  async function renewing(renew: () => Promise<unknown>, until: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await clock.sleep(RENEW_MS, until);
        await renew();
      }
    } catch {
      // Ignore the error: the call has ended, or the store cannot renew the claim, which then
      // expires.
    }
  }

  return {
    get: (endpoint, subject) => local.get(endpoint, subject),
    async put(endpoint, subject, answer) {
      await local.put(endpoint, subject, answer);
      await share(endpoint, subject, answer);
    },
    async claim(wanted, signal) {
      const token = randomUUID();
      const began = clock.mono();
      for (;;) {
        const { answer, failure, waits } = await read(wanted, token);
        if (answer) return { by: 'cache', answer };
        if (failure) return { by: 'other', failure };
        if (!waits) return { by: 'us', end: hold(wanted, token) };
        if (clock.mono() - began >= (wanted.waitMs ?? WAIT_MS)) return { by: 'other' };
        await clock.sleep(POLL_MS * (0.5 + random()), signal);
      }
    },
  };
}

const isCached = (endpoint: SharedEndpoint): endpoint is CachedEndpoint =>
  endpoint !== 'me' && endpoint !== 'user.resolve';

const seal = (key: string, parts: readonly string[]): string =>
  createHmac('sha256', key).update(parts.join('\n')).digest('hex');

function isEqual(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
}

function readAnswer(status: string, text: string, time: number): SharedAnswer | undefined {
  if (status === '404') return { time, status: 404, record: null };
  const record = parseJson(text);
  if ((status !== '200' && status !== '202') || record === undefined) return undefined;
  return { time, status: status === '200' ? 200 : 202, record };
}

/**
 * The kinds of failures that machines share. Others, such as an exhausted budget, may affect only
 * one machine.
 */
const shared: ReadonlySet<unknown> = new Set(['service', 'network', 'answer', 'rate']);

const failureText = ({ kind, code, message, status }: Failure): string =>
  shared.has(kind) ? JSON.stringify({ kind, code, message, status }) : '';

/**
 * The failure of another machine, cleaned, because anyone with write access to the store can change
 * its text.
 */
function readFailure(text: string): Failure | undefined {
  const { kind, code, message, status } = parseObject(text) ?? {};
  if (!shared.has(kind) || typeof code !== 'string' || typeof message !== 'string')
    return undefined;
  const shown = message.replace(/[^\x20-\x7e]/g, '?').slice(0, 200);
  return new Failure(kind === 'answer' ? 'answer' : 'service', shown, {
    code: code.replace(/[^A-Z0-9_]/g, '').slice(0, 40),
    retryable: true,
    ...(typeof status === 'number' && { status }),
    hint: 'try again later; another machine received this failure a moment ago',
  });
}
