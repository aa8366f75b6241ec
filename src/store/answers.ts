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
import { serverNow } from './connection.ts';
import { ignoreUnusable, unusable } from './failures.ts';
import type { StoreMember } from './link.ts';
import { answerScripts, type ClaimReply, readClaim, type SealedAnswer } from './scripts/answers.ts';

/** How long the store keeps an answer. */
const KEEP_MS = 30 * 86_400_000;
/**
 * The same for an answer that is not cached, which is only for machines that request it at the same
 * time.
 */
const KEEP_SHORTLY_MS = 60_000;
/**
 * How long a claim lasts without a renewal: if its machine stops responding, another one then
 * requests the answer.
 */
const CLAIM_MS = 5_000;
const RENEW_MS = 1_500;
/** How long a failure is shared with the machines that wait for the answer. */
const FAILED_MS = 2_000;
const POLL_MS = 100;
/**
 * How long to wait for another machine, by default. After that, this machine sends the call itself.
 */
const WAIT_MS = 150_000;
/** The most characters of a record that is shared. */
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
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: its steps share open claims and what the store has refused.
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
  const placesOf = (endpoint: SharedEndpoint, subject: string) => ({
    answer: keys.answer(endpoint, subject),
    claimKey: keys.claim(endpoint, subject),
  });
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
    const places = placesOf(endpoint, subject);
    const keepMs = isCached(endpoint) ? KEEP_MS : KEEP_SHORTLY_MS;
    await link
      .use(async (store) => {
        const time = String((await serverNow(store)) - ageMs);
        const signature = seal(key, [endpoint, subject, status, time, record]);
        const sealed = { status, answeredAt: time, record, seal: signature };
        return store.run(...answerScripts.fill.with(places, { token, keepMs, ...sealed }));
      })
      .catch(noteRefusal);
  }

  /**
   * Reads an answer or a failure, or claims the answer. The script discards an entry that was found
   * `damaged`.
   */
  async function read(wanted: WantedAnswer, token: string, damaged?: string): Promise<Found> {
    const reply = await look(wanted, token, damaged);
    switch (reply.is) {
      case 'ours':
        return { waits: false };
      case 'claimed':
        return { waits: true };
      case 'failed': {
        const failure = readFailure(reply.failure);
        if (!failure && damaged === undefined) return read(wanted, token, `!${reply.failure}`);
        return { failure };
      }
      case 'answered': {
        // The script returns the age, because the time is that of the server's clock.
        const answer = unseal(wanted, reply.answer, clock.now() - reply.ageMs);
        if (!answer) return damaged === undefined ? read(wanted, token, reply.answer.seal) : {};
        const { endpoint, subject } = wanted;
        if (answer.status !== 202 && isCached(endpoint))
          await local.put(endpoint, subject, { ...answer, status: answer.status });
        return { answer };
      }
    }
  }

  /** Undefined if a machine without the key, or another program, has written the answer. */
  function unseal(
    { endpoint, subject }: WantedAnswer,
    sealed: SealedAnswer,
    time: number,
  ): SharedAnswer | undefined {
    const { status, record } = sealed;
    const expected = seal(key, [endpoint, subject, status, sealed.time, record]);
    return isEqual(sealed.seal, expected) ? readAnswer(status, record, time) : undefined;
  }

  async function look(wanted: WantedAnswer, token: string, damaged = ''): Promise<ClaimReply> {
    if (refusal) throw refusal;
    const { endpoint, subject, maxAgeMs, missAgeMs } = wanted;
    const args = { token, maxAgeMs, missAgeMs, claimMs: CLAIM_MS, damaged };
    const ask = answerScripts.ask.with(placesOf(endpoint, subject), args);
    return readClaim(await link.run(...ask).catch(ignoreUnusable));
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
      const { claimKey } = placesOf(endpoint, subject);
      const shareMs = failure === '' ? 0 : FAILED_MS;
      const fail = answerScripts.fail.with({ claimKey }, { token, failure, shareMs });
      await link.run(...fail).catch(noteRefusal);
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
    share,
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
  const first = Buffer.from(one);
  const second = Buffer.from(other);
  return first.length === second.length && timingSafeEqual(first, second);
}

function readAnswer(status: string, text: string, time: number): SharedAnswer | undefined {
  if (status === '404') return { time, status: 404, record: null };
  const record = parseJson(text);
  if (record === undefined) return undefined;
  if (status === '200') return { time, status: 200, record };
  return status === '202' ? { time, status: 202, record } : undefined;
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
