import { once } from '../../base/calls.ts';
import type { Clock } from '../../base/clock.ts';
import { BATCH_MAX } from '../../contract/limits.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import type { Subject } from '../lookup/subject.ts';
import type { NumbersClaim, SavedNumbers } from './cached-numbers.ts';

/**
 * Longer than a call of another machine can take. After this, this machine requests the handle
 * itself.
 */
const PATIENCE_MS = 150_000;
const POLL_MS = 100;

/** The next subjects of a run, those that another machine has meanwhile requested apart. */
export interface NextBatch {
  /** What this machine has to request. */
  readonly subjects: readonly Subject[];
  /** What the store has already. */
  readonly here: readonly { readonly subject: Subject; readonly record: PnlRecord }[];
  /** Gives up the claims of this machine, so that others may request these handles. */
  end(): Promise<void>;
}

/**
 * The subjects of a run that are left. Those that another machine is requesting wait for its
 * answers.
 */
export class SubjectsLeft {
  readonly #handleOf: (subject: Subject) => string;
  readonly #saved: Pick<SavedNumbers, 'claim'> | undefined;
  readonly #clock: Pick<Clock, 'mono' | 'sleep'>;
  /** When another machine was first seen requesting the subject. */
  readonly #waiting = new Map<Subject, number>();
  #left: readonly Subject[];

  constructor(
    todo: readonly Subject[],
    handleOf: (subject: Subject) => string,
    saved: Pick<SavedNumbers, 'claim'> | undefined,
    clock: Pick<Clock, 'mono' | 'sleep'>,
  ) {
    this.#left = todo;
    this.#handleOf = handleOf;
    this.#saved = saved;
    this.#clock = clock;
  }

  get left(): readonly Subject[] {
    return this.#left;
  }

  async next(size: number, signal?: AbortSignal): Promise<NextBatch> {
    const subjects = this.#left.slice(0, size);
    if (!this.#saved) return { subjects, here: [], end: async () => {} };
    const claims = await Promise.all(subjects.map((subject) => this.#claim(subject)));
    const ours = subjects.filter((_, at) => claims[at]?.by === 'us');
    const elsewhere = subjects.filter((_, at) => claims[at]?.by === 'other');
    const rest = this.#left.slice(subjects.length);
    // Move the handles of other machines behind the next batch.
    this.#left = [...ours, ...rest.slice(0, BATCH_MAX), ...elsewhere, ...rest.slice(BATCH_MAX)];
    if (elsewhere.length === subjects.length) await this.#clock.sleep(POLL_MS, signal);
    return {
      subjects: ours,
      here: subjects.flatMap((subject, at) => {
        const claim = claims[at];
        return claim?.by === 'cache' ? [{ subject, record: claim.record }] : [];
      }),
      end: once(async () => {
        await Promise.all(claims.map((claim) => claim.by === 'us' && claim.end()));
      }),
    };
  }

  /** Removes subjects that were answered, or whose answer was lost and is not requested again. */
  done(subjects: readonly Subject[]): void {
    const gone = new Set(subjects);
    this.#left = this.#left.filter((subject) => !gone.has(subject));
  }

  async #claim(subject: Subject): Promise<NumbersClaim> {
    const since = this.#waiting.get(subject);
    const claim = (await this.#saved?.claim(this.#handleOf(subject), 0)) ?? alone;
    if (claim.by !== 'other') return claim;
    if (since === undefined) this.#waiting.set(subject, this.#clock.mono());
    else if (this.#clock.mono() - since > PATIENCE_MS) return alone;
    return claim;
  }
}

const alone: NumbersClaim = { by: 'us', end: async () => {} };
