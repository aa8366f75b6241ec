import type { Clock } from '../../base/clock.ts';
import { missAgeOf } from '../../contract/answer-age.ts';
import type { AnswerCache, SharedAnswer } from '../../contract/ports/answers.ts';
import type { Book, Miss, Name, PersonReading, ReusedHandle } from '../../contract/ports/book.ts';
import type { Client } from '../../contract/ports/client.ts';
import { known, type Sent } from '../../contract/read-record.ts';
import { recognize } from '../../contract/record-types.ts';
import { User } from '../../contract/records/user.ts';
import { namesIn } from './book-answers.ts';
import { answerOf, askTogether, heldAnswer, type LookupAnswer } from './lookup.ts';
import { type AskedName, callOf, endpointOf } from './lookup-call.ts';

interface CallSources {
  readonly client: Pick<Client, 'call'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly book?: Book | undefined;
  readonly answers?: AnswerCache | undefined;
  readonly onReused?: ((reused: readonly ReusedHandle[]) => void) | undefined;
}

/** Calls for users. Every answer feeds the book, and the store that machines share. */
export class UserCalls {
  readonly #sources: CallSources;
  readonly #maxAgeMs: number;
  readonly #missAgeMs: number;

  constructor(sources: CallSources, maxAgeMs: number) {
    this.#sources = sources;
    this.#maxAgeMs = maxAgeMs;
    this.#missAgeMs = missAgeOf(maxAgeMs);
  }

  /** Requests an answer, or gets the one that another machine has requested or is requesting. */
  async call(
    name: AskedName,
    signal?: AbortSignal,
    /** Answers of other machines must be newer than this. */
    after = Number.NEGATIVE_INFINITY,
  ): Promise<LookupAnswer> {
    const wanted = {
      endpoint: endpointOf(name.type),
      subject: name.normal,
      maxAgeMs: Math.max(0, Math.min(this.#maxAgeMs, this.#sources.clock.now() - after)),
      missAgeMs: this.#missAgeMs,
    };
    const claim = await this.#sources.answers?.claim?.(wanted, signal);
    return await askTogether(claim, fromShared, () => this.ask(name, signal));
  }

  /** Keeps a 200 or a `NOT_OBSERVED` and nothing else. */
  async ask(name: AskedName, signal?: AbortSignal): Promise<LookupAnswer> {
    const { book, answers } = this.#sources;
    const answer = await this.#request(name, signal);
    if (answer.found) await this.keep(name, answer.record, answer.time);
    if (answer.found === false && answer.code === 'NOT_OBSERVED') {
      const { time } = answer;
      await book?.keep([{ time, asked: name, isMiss: true }]);
      await answers?.share?.(endpointOf(name.type), name.normal, {
        time,
        status: 404,
        record: null,
      });
    }
    return answer;
  }

  async #request(name: AskedName, signal: AbortSignal | undefined): Promise<LookupAnswer> {
    const { client, clock } = this.#sources;
    const { id, ask } = callOf(name);
    try {
      const { record } = await client.call(id, ask, { signal });
      return heldAnswer(record, clock.now(), 'service');
    } catch (error) {
      return answerOf(error, clock.now());
    }
  }

  async keep(asked: Name, user: Sent, time: number): Promise<void> {
    const { book, answers, onReused } = this.#sources;
    const reading = readingOf(user, time, asked);
    const reused = (await book?.keep([reading])) ?? [];
    if (reused.length > 0) onReused?.(reused);
    const answer = { time, status: 200, record: user } as const;
    for (const { type, normal } of namesIn(user, asked)) {
      await answers?.share?.(endpointOf(type), normal, answer);
    }
  }
}

/** What a user record says about a person. */
function readingOf(user: Sent, time: number, asked?: Name): PersonReading {
  const { id, handle, solanaAddress, evmAddress, twitter } = known(User, user);
  const identity = { handle, solanaAddress, evmAddress, twitter };
  return { time, id, identity, record: user, asked };
}

/** What a saved answer to a name says; undefined if it is not a user record. */
export function readingOfAnswer(
  asked: Name,
  { status, time, record }: SharedAnswer,
): PersonReading | Miss | undefined {
  if (status === 404) return { time, asked, isMiss: true };
  const user = recognize('user', record)?.record;
  return user && { ...readingOf(user, time, asked), mayBeOld: true };
}

function fromShared({ status, time, record }: SharedAnswer): LookupAnswer | undefined {
  const user = status === 404 ? null : recognize('user', record)?.record;
  return user === undefined ? undefined : heldAnswer(user, time, 'cache');
}
