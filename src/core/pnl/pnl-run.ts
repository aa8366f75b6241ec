import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { BATCH_MAX, cu } from '../../contract/limits.ts';
import type { Client } from '../../contract/ports/client.ts';
import { lossOf, mayAskAgain } from '../client/lost-answer.ts';
import { failedRecord } from '../lookup/lookup.ts';
import type { Subject } from '../lookup/subject.ts';
import type { Allowance } from './allowance.ts';
import type { SavedNumbers } from './cached-numbers.ts';
import { type NextBatch, SubjectsLeft } from './next-batch.ts';
import {
  type BatchAnswer,
  isRejected,
  lostFailure,
  type NumbersResult,
  requestBatch,
} from './request-batch.ts';
import { type SharedHandles, shareHandles, type Targets } from './targets.ts';

/**
 * What a run writes down before and after each batch, so that nothing is paid for twice after a
 * crash.
 */
export interface BatchLog {
  /** Called before a batch is sent. Returns its number. */
  asking(subjects: readonly Subject[]): Promise<number>;
  answered(batch: number, results: readonly NumbersResult[]): Promise<void>;
  /** The batch was not charged. */
  dropped(batch: number): Promise<void>;
  /** Results that no batch of this run requested. */
  found(results: readonly NumbersResult[]): Promise<void>;
  /** `answer` is a response that could not be read. */
  lost(batch: number, cuAtMost: number, answer?: string): Promise<void>;
}

export interface PnlRunNeeds {
  readonly client: Pick<Client, 'call' | 'spent' | 'left' | 'affords'>;
  readonly clock: Clock;
  readonly allowance: Allowance;
  readonly targets: Pick<Targets, 'subjects' | 'hasOthers' | 'handleOf'>;
  readonly todo: readonly Subject[];
  readonly log?: BatchLog | undefined;
  readonly saved?: SavedNumbers | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A batch whose answer was lost and is not requested again in this run. */
export interface LostBatch {
  readonly subjects: readonly Subject[];
  readonly cuAtMost: number;
  readonly failure: Failure;
}

/** What became of a batch that was sent. */
type Outcome =
  | { readonly kind: 'answered'; readonly answer: BatchAnswer }
  | Loss
  /** The service rejects its only subject. Nothing was charged. */
  | { readonly kind: 'refused'; readonly failure: Failure }
  /**
   * The service rejects it as a whole, or nothing was sent. Nothing was charged; a smaller batch
   * may be accepted.
   */
  | { readonly kind: 'rejected'; readonly error: unknown };

/** The service may have charged a batch, although there is no answer. */
interface Loss {
  readonly kind: 'lost';
  readonly cuAtMost: number;
  readonly failure: Failure;
}

/** What a batch yields, and the failure that ends the run after it. */
interface Step {
  readonly results: readonly NumbersResult[];
  readonly failure?: Failure | undefined;
}

/** The service may still process and charge a batch after the connection broke. */
const WORK_MS = 30_000;
/** Then the run ends: the connection is too unreliable for more paid calls. */
const LOST_IN_ROW = 2;
/** Then the run ends, because the service would probably reject all others too. */
const REFUSED_IN_ROW = 20;
/**
 * How often, and after which wait, an answer is written again that could not be written: it was
 * paid for.
 */
const KEEP_TRIES = 10;
const KEEP_WAIT_MS = 1_000;

/**
 * Requests numbers batch by batch. Each is sent only after the previous answers were saved, so a
 * crash loses at most one.
 */
export class PnlRun {
  /** What was lost for good, with its subjects. */
  readonly lost: LostBatch[] = [];
  readonly #needs: PnlRunNeeds;
  readonly #shared: SharedHandles;
  readonly #subjectsLeft: SubjectsLeft;
  /** The subjects of batches whose answers were lost and that are requested again. */
  readonly #again = new Set<Subject>();
  /**
   * The most subjects of the next batch: less after a rejection, then again more with each answer.
   */
  #size = BATCH_MAX;
  #lostInRow = 0;
  #refusedInRow = 0;

  constructor(needs: PnlRunNeeds) {
    this.#needs = needs;
    this.#shared = shareHandles(needs.todo, needs.targets);
    const handleOf = (subject: Subject) => this.#handleOf(subject);
    this.#subjectsLeft = new SubjectsLeft(this.#shared.first, handleOf, needs.saved, needs.clock);
  }

  /** The subjects without a result. */
  get left(): readonly Subject[] {
    return this.#withSharing(this.#subjectsLeft.left);
  }

  /** Not always in the order of the subjects. Throws the failure that ended the run early. */
  async *results(): AsyncGenerator<readonly NumbersResult[], void, void> {
    const { allowance, signal } = this.#needs;
    while (this.#subjectsLeft.left.length > 0) {
      signal?.throwIfAborted();
      const wanted = Math.min(this.#size, this.#subjectsLeft.left.length);
      const next = await this.#subjectsLeft.next(
        await allowance.affordable(wanted, signal),
        signal,
      );
      try {
        if (next.here.length > 0) yield await this.#takeOver(next);
        if (next.subjects.length === 0) continue;
        const { results, failure } = await this.#request(next);
        if (results.length > 0) yield results;
        if (failure) throw failure;
      } finally {
        // Claims would otherwise be renewed forever.
        await next.end();
      }
    }
  }

  /** Takes over what another machine has requested. */
  async #takeOver({ here }: NextBatch): Promise<readonly NumbersResult[]> {
    const results = this.#resultsFor(here);
    await this.#needs.log?.found(results);
    return results;
  }

  async #request(next: NextBatch): Promise<Step> {
    const { client, log } = this.#needs;
    // The usage before the call shows later whether a lost answer was charged.
    const { unitsUsed } = client.left;
    const batch = (await log?.asking(next.subjects)) ?? 0;
    const outcome = await this.#send(next.subjects);
    // Without an answer to share, other machines need not wait any longer.
    if (outcome.kind !== 'answered') await next.end();
    switch (outcome.kind) {
      case 'answered':
        return await this.#answered(next, batch, outcome.answer);
      case 'lost':
        return await this.#lost(next.subjects, batch, outcome, unitsUsed);
      case 'refused':
        return await this.#refused(next.subjects, batch, outcome.failure);
      case 'rejected':
        return await this.#rejected(next.subjects, batch, outcome.error);
    }
  }

  async #send(subjects: readonly Subject[]): Promise<Outcome> {
    const { client, clock, saved, signal, targets } = this.#needs;
    try {
      const handles = subjects.map((subject) => this.#handleOf(subject));
      const answer = await requestBatch(client, handles, {
        signal,
        saved,
        now: clock.now,
        once: true,
        repeat: subjects.some((subject) => this.#again.has(subject)),
        alone: targets.subjects.length === 1,
      });
      return { kind: 'answered', answer };
    } catch (error) {
      const cuAtMost = lossOf(error);
      if (cuAtMost > 0) return { kind: 'lost', cuAtMost, failure: lostFailure(error, cuAtMost) };
      if (subjects.length === 1 && isRejected(error)) return { kind: 'refused', failure: error };
      return { kind: 'rejected', error };
    }
  }

  async #answered(next: NextBatch, batch: number, { answers, save }: BatchAnswer): Promise<Step> {
    const { subjects } = next;
    this.#lostInRow = 0;
    this.#refusedInRow = 0;
    this.#size = Math.min(BATCH_MAX, this.#size * 2);
    const results = this.#resultsFor(
      subjects.flatMap((subject, at) => {
        const answer = answers[at];
        return answer === undefined ? [] : [{ ...answer, subject }];
      }),
    );
    try {
      await this.#keep(batch, results);
    } finally {
      await save();
      await next.end();
    }
    this.#subjectsLeft.done(subjects);
    // If no requested handle is returned, the run would pay for further batches without a result.
    const isUseless = results.every(({ failure }) => failure !== undefined);
    return { results, failure: isUseless ? results[0]?.failure : undefined };
  }

  /** Requests the batch again if that cannot cost twice; else its subjects fail. */
  async #lost(
    subjects: readonly Subject[],
    batch: number,
    { failure, cuAtMost }: Loss,
    unitsUsed: number | null,
  ): Promise<Step> {
    await this.#needs.log?.lost(batch, cuAtMost, failure.answer);
    this.#lostInRow++;
    if (await this.#mayAskAgain(failure, unitsUsed)) {
      for (const subject of subjects) this.#again.add(subject);
      this.#size = subjects.length;
      return { results: [] };
    }
    this.#subjectsLeft.done(subjects);
    const all = this.#withSharing(subjects);
    this.lost.push({ subjects: all, cuAtMost, failure });
    const results = all.map((subject) => ({
      subject,
      record: failedRecord(subject.text, failure),
      failure,
    }));
    const isEnd = this.#lostInRow >= LOST_IN_ROW || isUnreadable(failure);
    return { results, failure: isEnd ? failure : undefined };
  }

  /** The rejection is the result of the only subject of the batch. */
  async #refused(subjects: readonly Subject[], batch: number, failure: Failure): Promise<Step> {
    const results = this.#resultsFor(
      subjects.map((subject) => ({
        subject,
        record: failedRecord(subject.text, failure),
        failure,
      })),
    );
    await this.#needs.log?.answered(batch, results);
    this.#subjectsLeft.done(subjects);
    this.#refusedInRow++;
    return { results, failure: this.#refusedInRow >= REFUSED_IN_ROW ? failure : undefined };
  }

  /** A smaller batch may be accepted. Throws an error that it cannot avoid. */
  async #rejected(subjects: readonly Subject[], batch: number, error: unknown): Promise<Step> {
    const { allowance, log, signal } = this.#needs;
    await log?.dropped(batch);
    this.#size = await allowance.smallerBatch(error, subjects.length, signal);
    return { results: [] };
  }

  /**
   * Whether a lost batch was probably not charged, and the confirmed cost covers the loss and all
   * remaining handles.
   */
  async #mayAskAgain(failure: Failure, unitsUsed: number | null): Promise<boolean> {
    const { allowance, client, signal } = this.#needs;
    const cost = cu.reveal * this.#subjectsLeft.left.length;
    const rule = { lost: this.#lostInRow, tries: LOST_IN_ROW, cost };
    if (isUnreadable(failure) || !mayAskAgain(client, rule)) return false;
    return await allowance.unmoved(unitsUsed, WORK_MS, signal);
  }

  /** Writes down results that were paid for: if the disk is full, some space may become free. */
  async #keep(batch: number, results: readonly NumbersResult[]): Promise<void> {
    const { clock, log, signal } = this.#needs;
    for (let tries = 0; ; tries++) {
      try {
        return await log?.answered(batch, results);
      } catch (error) {
        if (tries >= KEEP_TRIES || signal?.aborted) throw error;
        await clock.sleep(KEEP_WAIT_MS);
      }
    }
  }

  #handleOf(subject: Subject): string {
    return this.#needs.targets.handleOf(subject) ?? subject.value;
  }

  #withSharing(subjects: readonly Subject[]): readonly Subject[] {
    const { others } = this.#shared;
    if (others.size === 0) return subjects;
    return subjects.flatMap((subject) => [subject, ...(others.get(subject) ?? [])]);
  }

  /**
   * The results of subjects and of those with the same handles, each with its text as the user
   * wrote it.
   */
  #resultsFor(results: readonly NumbersResult[]): readonly NumbersResult[] {
    return results.flatMap(({ subject, record, failure }) =>
      this.#withSharing([subject]).map((each) => ({
        subject: each,
        record: { ...record, subject: each.text },
        failure,
      })),
    );
  }
}

/** Another answer would probably be the same. */
const isUnreadable = ({ kind, cause }: Failure) =>
  kind === 'answer' && !(cause instanceof Failure && cause.retryable);
