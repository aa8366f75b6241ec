import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import { parseJson, stringifyJson } from '../base/json.ts';
import { parseObject, textOf } from '../base/json-object.ts';
import {
  type AnswerCache,
  type CachedAnswer,
  type CachedEndpoint,
  type Claim,
  type EndClaim,
  isFeed,
  type SharedAnswer,
  type SharedEndpoint,
  type WantedAnswer,
} from '../contract/ports/answers.ts';
import { serverNow } from './connection.ts';
import { ignoreUnusable, unusable } from './failures.ts';
import type { StoreLink } from './link.ts';
import { answerScripts, type ClaimReply, readClaim, type SealedAnswer } from './scripts/answers.ts';

/** How long the store keeps an answer. */
const KEEP_MS = 30 * 86_400_000;
/** Pages are large, and their figures are soon too old. */
const KEEP_PAGES_MS = 86_400_000;
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
 * The answers that the machines of a key share. They are signed with the key, so that only its
 * machines can write them. Without the store, each requests its own.
 */
export class SharedAnswers implements AnswerCache {
  readonly #link: StoreLink;
  readonly #local: AnswerCache;
  /** The key of the run now, which a command can replace. */
  readonly #key: () => string;
  readonly #clock: Clock;
  readonly #random: () => number;
  /** The tokens of the open claims. */
  readonly #tokens = new Map<string, string>();
  /**
   * Why the store rejected a paid answer, which must still be returned; thrown before the next
   * request.
   */
  #refusal: Failure | undefined;

  constructor(
    link: StoreLink,
    local: AnswerCache,
    key: () => string,
    clock: Clock,
    random: () => number,
  ) {
    this.#link = link;
    this.#local = local;
    this.#key = key;
    this.#clock = clock;
    this.#random = random;
  }

  get(
    endpoint: CachedEndpoint,
    subjects: readonly string[],
  ): readonly (CachedAnswer | undefined)[] {
    return this.#local.get(endpoint, subjects);
  }

  async put(endpoint: CachedEndpoint, answers: ReadonlyMap<string, CachedAnswer>): Promise<void> {
    await this.#local.put(endpoint, answers);
    const shared = [...answers].map(([subject, answer]) => this.share(endpoint, subject, answer));
    await Promise.all(shared);
  }

  async share(endpoint: SharedEndpoint, subject: string, answer: SharedAnswer): Promise<void> {
    const record = answer.status === 404 ? '' : stringifyJson(answer.record);
    if (record.length > LONGEST) return;
    const status = String(answer.status);
    const ageMs = Math.max(0, this.#clock.now() - answer.time);
    const token = this.#tokens.get(nameOf(endpoint, subject)) ?? '';
    const places = this.#placesOf(endpoint, subject);
    await this.#link
      .use(async (store) => {
        const time = String((await serverNow(store)) - ageMs);
        const signature = sealOf(this.#key(), [endpoint, subject, status, time, record]);
        const sealed = { status, answeredAt: time, record, seal: signature };
        return store.run(
          ...answerScripts.fill.with(places, { token, keepMs: keepMsOf(endpoint), ...sealed }),
        );
      })
      .catch((error: unknown) => this.#noteRefusal(error));
  }

  async claim(wanted: WantedAnswer, signal?: AbortSignal): Promise<Claim> {
    const token = randomUUID();
    const began = this.#clock.mono();
    for (;;) {
      const { answer, failure, waits } = await this.#read(wanted, token);
      if (answer) return { by: 'cache', answer };
      if (failure) return { by: 'other', failure };
      if (!waits) return { by: 'us', end: this.#hold(wanted, token) };
      if (this.#clock.mono() - began >= WAIT_MS) return { by: 'other' };
      await this.#clock.sleep(POLL_MS * (0.5 + this.#random()), signal);
    }
  }

  /**
   * Reads an answer or a failure, or claims the answer. The script discards an entry that was found
   * `damaged`.
   */
  async #read(wanted: WantedAnswer, token: string, damaged?: string): Promise<Found> {
    const reply = await this.#ask(wanted, token, damaged);
    switch (reply.is) {
      case 'ours':
        return { waits: false };
      case 'claimed':
        return { waits: true };
      case 'failed': {
        const failure = readFailure(reply.failure);
        if (!failure && damaged === undefined)
          return this.#read(wanted, token, `!${reply.failure}`);
        return { failure };
      }
      case 'answered': {
        // The script returns the age, because the time is that of the server's clock.
        const answer = this.#unseal(wanted, reply.answer, this.#clock.now() - reply.ageMs);
        if (!answer)
          return damaged === undefined ? this.#read(wanted, token, reply.answer.seal) : {};
        const { endpoint, subject } = wanted;
        if (answer.status !== 202 && isCached(endpoint))
          await this.#local.put(
            endpoint,
            new Map([[subject, { ...answer, status: answer.status }]]),
          );
        return { answer };
      }
    }
  }

  async #ask(wanted: WantedAnswer, token: string, damaged = ''): Promise<ClaimReply> {
    if (this.#refusal) throw this.#refusal;
    const { endpoint, subject, maxAgeMs, missAgeMs } = wanted;
    const args = { token, maxAgeMs, missAgeMs, claimMs: CLAIM_MS, damaged };
    const ask = answerScripts.ask.with(this.#placesOf(endpoint, subject), args);
    return readClaim(await this.#link.run(...ask).catch(ignoreUnusable));
  }

  /** Undefined if a machine without the key, or another program, has written the answer. */
  #unseal(
    { endpoint, subject }: WantedAnswer,
    { status, time: sealedTime, record, seal }: SealedAnswer,
    time: number,
  ): SharedAnswer | undefined {
    const expected = sealOf(this.#key(), [endpoint, subject, status, sealedTime, record]);
    return isEqual(seal, expected) ? readAnswer(status, record, time) : undefined;
  }

  /** Renews the claim until the returned function ends it. */
  #hold(wanted: WantedAnswer, token: string): EndClaim {
    const { endpoint, subject } = wanted;
    this.#tokens.set(nameOf(endpoint, subject), token);
    const done = new AbortController();
    void this.#renew(wanted, token, done.signal);
    return async (outcome) => {
      done.abort();
      const failure = outcome instanceof Failure ? failureText(outcome) : '';
      if (outcome && !(outcome instanceof Failure)) await this.share(endpoint, subject, outcome);
      this.#tokens.delete(nameOf(endpoint, subject));
      // Without a failure, one of the waiting machines requests the answer, unless it was shared.
      const { claimKey } = this.#placesOf(endpoint, subject);
      const shareMs = failure === '' ? 0 : FAILED_MS;
      const fail = answerScripts.fail.with({ claimKey }, { token, failure, shareMs });
      await this.#link.run(...fail).catch((error: unknown) => this.#noteRefusal(error));
    };
  }

  async #renew(wanted: WantedAnswer, token: string, until: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await this.#clock.sleep(RENEW_MS, until);
        await this.#ask(wanted, token);
      }
    } catch {
      // Ignore the error: the call has ended, or the store cannot renew the claim, which then
      // expires.
    }
  }

  #noteRefusal(error: unknown): void {
    if (!(error instanceof Failure)) throw error;
    if (!unusable(error)) this.#refusal = error;
  }

  #placesOf(endpoint: SharedEndpoint, subject: string) {
    const { keys } = this.#link;
    return { answer: keys.answer(endpoint, subject), claimKey: keys.claim(endpoint, subject) };
  }
}

const nameOf = (endpoint: string, subject: string): string => `${endpoint}\n${subject}`;

const isCached = (endpoint: SharedEndpoint): endpoint is CachedEndpoint =>
  endpoint !== 'me' && endpoint !== 'user.resolve';

function keepMsOf(endpoint: SharedEndpoint): number {
  if (isFeed(endpoint)) return KEEP_PAGES_MS;
  return isCached(endpoint) ? KEEP_MS : KEEP_SHORTLY_MS;
}

const sealOf = (key: string, parts: readonly string[]): string =>
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
  const { kind, status, ...texts } = parseObject(text) ?? {};
  const code = textOf(texts['code']);
  const shown = textOf(texts['message'])
    ?.replace(/[^\x20-\x7e]/g, '?')
    .slice(0, 200);
  if (!shared.has(kind) || code === undefined || shown === undefined) return undefined;
  return new Failure(kind === 'answer' ? 'answer' : 'service', shown, {
    code: code.replace(/[^A-Z0-9_]/g, '').slice(0, 40),
    retryable: true,
    ...(typeof status === 'number' && { status }),
    hint: 'try again later; another machine received this failure a moment ago',
  });
}
