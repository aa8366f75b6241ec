import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import { stringifyJson } from '../base/json.ts';
import type {
  AnswerCache,
  CachedEndpoint,
  Claim,
  EndClaim,
  SharedAnswer,
  SharedEndpoint,
  WantedAnswer,
} from '../contract/answer-ports.ts';
import { ignoreUnusable, unusable } from './failures.ts';
import type { StoreLink } from './link.ts';
import { listReply, number, serverNow } from './replies.ts';
import { ask, failScript, fill } from './scripts/answers.ts';
import { openSeal, seal } from './sealed-answer.ts';
import { readSharedFailure, sharedFailure } from './shared-failure.ts';

export interface SharedAnswersOptions {
  readonly link: StoreLink;
  /** The cache of this machine, which is searched first. */
  readonly local: AnswerCache;
  /**
   * The API key. Answers in the store are signed with it, so that only machines with the key can write them.
   */
  readonly key: string;
  readonly clock: Clock;
  readonly random: () => number;
}

const KEEP_MS = 30 * 86_400_000;
/**
 * How long an answer that is not cached stays in the store, for machines that request it at the same time.
 */
const KEEP_SHORTLY_MS = 60_000;
/**
 * If a machine stops responding while it requests an answer, another machine requests the answer after this
 * time.
 */
const CLAIM_MS = 5_000;
const RENEW_MS = 1_500;
/** How long a failure stays in the store, for the machines that wait for the answer. */
const FAILED_MS = 2_000;
const POLL_MS = 100;
/** How long to wait for the answer of another machine by default. After that, this machine sends the call itself. */
const WAIT_MS = 150_000;
/** The maximum length of a record in characters. Longer records are not shared. */
const LONGEST = 256 * 1024;

/**
 * Shares the answers of all machines of a key. The cache of this machine is searched first. If the store is
 * unavailable, lookups do not fail: each machine sends its own requests.
 */
export function createSharedAnswers({ link, local, key, clock, random }: SharedAnswersOptions): AnswerCache {
  const { keys } = link;
  const tokens = new Map<string, string>();
  /**
   * The reason why the store rejected an answer. That answer was paid for and must still be returned, so the
   * error is thrown only before the next request.
   */
  let refusal: Failure | undefined;
  const noteRefusal = (error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    if (!unusable(error)) refusal = error;
  };
  const nameOf = (endpoint: string, subject: string) => `${endpoint}\n${subject}`;

  async function share(endpoint: SharedEndpoint, subject: string, answer: SharedAnswer): Promise<void> {
    const record = answer.status === 404 ? '' : stringifyJson(answer.record);
    if (record.length > LONGEST) return;
    const status = String(answer.status);
    const ageMs = Math.max(0, clock.now() - answer.time);
    const token = tokens.get(nameOf(endpoint, subject)) ?? '';
    const places = [keys.answer(endpoint, subject), keys.claim(endpoint, subject)];
    const keepMs = isCached(endpoint) ? KEEP_MS : KEEP_SHORTLY_MS;
    await link
      .use(async (store) => {
        // The time of an answer is that of the server's clock, because the clocks of machines differ.
        const time = String((await serverNow(store)) - ageMs);
        const signature = seal(key, endpoint, subject, status, time, record);
        return store.run(fill, places, [token, keepMs, status, time, record, signature]);
      })
      .catch(noteRefusal);
  }

  /**
   * Ends this machine's claim, unless an answer has ended it. With a failure, the waiting machines get that failure.
   * Without a failure, one of these machines sends the request.
   */
  async function give(place: string, token: string, failure: Failure | undefined): Promise<void> {
    const failureText = failure === undefined ? '' : sharedFailure(failure);
    await link
      .use((store) =>
        store.run(failScript, [place], [token, failureText, failure === undefined ? 0 : FAILED_MS]),
      )
      .catch(noteRefusal);
  }

  /**
   * Gives access to one answer in the store: `read` returns the answer or claims it for this machine, and `hold`
   * renews the claim. Both use the same token.
   */
  function answerAccess({ endpoint, subject, maxAgeMs, missAgeMs }: WantedAnswer) {
    const token = randomUUID();
    const places = [keys.answer(endpoint, subject), keys.claim(endpoint, subject)];
    const look = async (damaged = '') => {
      if (refusal) throw refusal;
      return await link
        .use((store) => store.run(ask, places, [token, maxAgeMs, missAgeMs, CLAIM_MS, damaged]))
        .then(listReply, (error) => {
          ignoreUnusable(error);
          return [];
        });
    };

    async function read(): Promise<{ word: unknown; answer?: SharedAnswer; failure?: Failure }> {
      let found = readReply(await look());
      // Another program has overwritten the answer or the failure: ask again, so that the script discards it.
      if (found.damaged !== undefined) found = readReply(await look(found.damaged));
      const { word, answer, failure } = found;
      if (answer && answer.status !== 202 && isCached(endpoint)) {
        await local.put(endpoint, subject, { ...answer, status: answer.status });
      }
      return { word, ...(answer && { answer }), ...(failure && { failure }) };
    }

    function readReply([word, ...rest]: readonly unknown[]) {
      const sealed = word === 'hit' ? openSeal(key, endpoint, subject, rest) : undefined;
      // The script returns the age too, because `time` is that of the server's clock.
      const answer = sealed && { ...sealed, time: clock.now() - Math.max(0, number(rest[4])) };
      const failure = word === 'failed' ? readSharedFailure(String(rest[0])) : undefined;
      const damaged = word === 'hit' ? String(rest[3]) : word === 'failed' ? `!${rest[0]}` : undefined;
      return { word, answer, failure, damaged: answer || failure ? undefined : damaged };
    }

    /**
     * Renews this machine's claim until the returned function is called, which ends the claim. Does nothing while
     * the store is unavailable.
     */
    function hold(): EndClaim {
      const [, place = ''] = places;
      tokens.set(nameOf(endpoint, subject), token);
      const done = new AbortController();
      void renewing(look, done.signal);
      return async (outcome) => {
        done.abort();
        if (outcome && !(outcome instanceof Failure)) await share(endpoint, subject, outcome);
        tokens.delete(nameOf(endpoint, subject));
        await give(place, token, outcome instanceof Failure ? outcome : undefined);
      };
    }
    return { read, hold };
  }

  async function claim(wanted: WantedAnswer, signal?: AbortSignal): Promise<Claim> {
    const { read, hold } = answerAccess(wanted);
    const { waitMs = WAIT_MS } = wanted;
    const began = clock.mono();
    for (;;) {
      const { word, answer, failure } = await read();
      if (answer) return { by: 'cache', answer };
      if (failure) return { by: 'other', failure };
      if (word !== 'wait') return { by: 'us', end: hold() };
      if (clock.mono() - began >= waitMs) return { by: 'other' };
      await clock.sleep(POLL_MS * (0.5 + random()), signal);
    }
  }

  async function renewing(look: () => Promise<unknown>, until: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await clock.sleep(RENEW_MS, until);
        await look();
      }
    } catch {
      // Ignore the error: the call has ended, or the store cannot renew the claim, which then expires.
    }
  }

  return {
    get: (endpoint, subject) => local.get(endpoint, subject),
    async put(endpoint, subject, answer) {
      await local.put(endpoint, subject, answer);
      await share(endpoint, subject, answer);
    },
    claim,
  };
}

const isCached = (endpoint: SharedEndpoint): endpoint is CachedEndpoint =>
  endpoint !== 'me' && endpoint !== 'user.resolve';
