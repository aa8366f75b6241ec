import type { Clock } from '../../base/clock.ts';
import type { Failure } from '../../base/failure.ts';
import { BATCH_MAX, cu } from '../../contract/limits.ts';
import type { Client } from '../../contract/ports/client.ts';
import type { Rows } from '../../contract/ports/rows.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import { isHopeless, stepAfter } from '../client/resend-rule.ts';
import { askRows, type LostRows, type PaidAnswer } from '../rows/ask-rows.ts';
import type { Allowance } from './allowance.ts';
import type { SavedNumbers } from './cached-numbers.ts';
import { type ClaimedRows, Claims } from './claims.ts';
import { failedResult, type Handles, shareHandles } from './handles.ts';
import { isRejected, lostFailure, type NumbersResult, requestBatch } from './request-batch.ts';

interface PnlRunNeeds {
  readonly client: Pick<Client, 'call' | 'spent' | 'left' | 'affords'>;
  readonly clock: Clock;
  readonly allowance: Allowance;
  readonly handles: Pick<Handles, 'subjects' | 'hasOthers' | 'nameOf' | 'textOf'>;
  readonly rows: Rows<PnlRecord>;
  readonly saved?: SavedNumbers | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A batch whose answer was lost and is not requested again in this run. */
export interface LostBatch {
  readonly rows: readonly number[];
  readonly cuAtMost: number;
  readonly failure: Failure;
}

/** The service may still process and charge a batch after the connection broke. */
const WORK_MS = 30_000;
/** Then the run ends, because the service would probably reject all others too. */
const REFUSED_IN_ROW = 20;

/**
 * Requests numbers batch by batch. Each is sent only after the previous answers were saved, so a
 * crash loses at most one.
 */
export class PnlRun {
  /** What was lost for good, with its rows. */
  readonly lost: LostBatch[] = [];
  /** The failures of rows, until their results are printed. */
  readonly failures = new Map<number, Failure>();
  /** The rows that the service does not know. */
  readonly missing: number[] = [];
  readonly #needs: PnlRunNeeds;
  readonly #claims: Claims;
  /** The rows that wait for one with the same handle. */
  readonly #sharing: ReadonlyMap<number, readonly number[]>;
  /** The rows of batches whose answers were lost and that are requested again. */
  readonly #again = new Set<number>();
  /** The most rows of the next batch: less after a rejection, then again more with each answer. */
  #size = BATCH_MAX;
  #lostInRow = 0;
  #refusedInRow = 0;

  constructor(needs: PnlRunNeeds) {
    const { rows, handles, saved, clock } = needs;
    this.#needs = needs;
    this.#sharing = shareHandles(rows.states, handles);
    this.#claims = new Claims(rows.states, handles, saved, clock);
  }

  /** The rows without a result. */
  get left(): readonly number[] {
    const { states } = this.#needs.rows;
    const left: number[] = [];
    for (let row = 0; row < states.size; row++)
      if (['open', 'asked', 'waiting'].includes(states.of(row))) left.push(row);
    return left;
  }

  /** Requests the next batch. Returns false without one; throws the failure that ends the run. */
  async step(): Promise<boolean> {
    const { allowance, rows, signal } = this.#needs;
    if (this.#claims.left === 0) return false;
    signal?.throwIfAborted();
    const claimed = await this.#claims.next(this.#size, signal);
    try {
      // Another machine has paid for these.
      const results = this.#withSharing(claimed.results);
      rows.take(results);
      this.#note(results);
      if (claimed.rows.length > 0) {
        const count = await allowance.affordable(claimed.rows.length, signal);
        await this.#request(claimed, claimed.rows.slice(0, count));
      }
    } finally {
      // Claims would otherwise be renewed forever.
      await claimed.end();
    }
    return true;
  }

  async #request(claimed: ClaimedRows, asked: readonly number[]): Promise<void> {
    const { allowance, client, clock, rows, signal } = this.#needs;
    // The usage before the call shows later whether a lost answer was charged.
    const { unitsUsed } = client.left;
    const outcome = await askRows(rows, asked, { clock, signal }, () => this.#send(asked));
    // Other machines need not wait any longer.
    await claimed.end();
    if (outcome.kind === 'answered') return this.#answered(outcome.values);
    if (outcome.kind === 'lost') return await this.#lost(asked, outcome, unitsUsed);
    // A smaller batch may be accepted. An error that it cannot avoid is thrown.
    this.#size = await allowance.smallerBatch(outcome.error, asked.length, signal);
  }

  async #send(asked: readonly number[]): Promise<PaidAnswer<NumbersResult>> {
    const { client, clock, handles, saved, signal } = this.#needs;
    const names = asked.map((row) => handles.nameOf(row));
    try {
      const { answers, save } = await requestBatch(client, names, {
        signal,
        saved,
        now: clock.now,
        once: true,
        repeat: asked.some((row) => this.#again.has(row)),
        alone: handles.subjects.length === 1,
      });
      const results = asked.flatMap((row, at) => {
        const answer = answers[at];
        return answer ? [{ row, value: answer.record, failure: answer.failure }] : [];
      });
      return { values: this.#withSharing(results), save };
    } catch (error) {
      const [row] = asked;
      if (row === undefined || asked.length > 1 || !isRejected(error)) throw error;
      // The rejection is the result of the only row of the batch. Nothing was charged.
      return { values: this.#withSharing([failedResult(row, handles.textOf(row), error)]) };
    }
  }

  #answered(results: readonly NumbersResult[]): void {
    this.#note(results);
    const failure = results[0]?.failure;
    if (isRejected(failure)) {
      this.#refusedInRow++;
      if (this.#refusedInRow >= REFUSED_IN_ROW) throw failure;
      return;
    }
    this.#refusedInRow = 0;
    this.#lostInRow = 0;
    this.#size = Math.min(BATCH_MAX, this.#size * 2);
    // If no requested handle is returned, the run would pay for further batches without a result.
    if (failure && results.every((result) => result.failure !== undefined)) throw failure;
  }

  /** Requests the batch again if that cannot cost twice; else its rows fail. */
  async #lost(
    asked: readonly number[],
    { error, cuAtMost }: LostRows,
    unitsUsed: number | null,
  ): Promise<void> {
    const { handles, rows } = this.#needs;
    this.#lostInRow++;
    if (await this.#mayAskAgain(error, unitsUsed)) {
      for (const row of asked) this.#again.add(row);
      this.#size = asked.length;
      return;
    }
    const failure = lostFailure(error);
    const results = this.#withSharing(
      asked.map((row) => failedResult(row, handles.textOf(row), failure)),
    );
    for (const { row } of results) rows.states.fail(row);
    this.lost.push({ rows: results.map(({ row }) => row), cuAtMost, failure });
    this.#note(results);
    if (isHopeless({ failure: error, lost: this.#lostInRow })) throw failure;
  }

  /**
   * Whether a lost batch may be sent again: it was probably not charged, and the confirmed cost
   * covers the loss and all remaining handles.
   */
  async #mayAskAgain(failure: Failure, unitsUsed: number | null): Promise<boolean> {
    const { allowance, client, signal } = this.#needs;
    const isCovered = client.affords(cu.reveal * this.#claims.left);
    const loss = { failure, isFree: false, rule: 'never', lost: this.#lostInRow } as const;
    if (stepAfter({ ...loss, isCovered }) !== 'check') return false;
    return await allowance.unmoved(unitsUsed, WORK_MS, signal);
  }

  #note(results: readonly NumbersResult[]): void {
    for (const { row, value, failure } of results) {
      if (failure) this.failures.set(row, failure);
      if (value.found === false) this.missing.push(row);
    }
  }

  /** The results of rows and of those with the same handles, each with its own text. */
  #withSharing(results: readonly NumbersResult[]): readonly NumbersResult[] {
    const { handles } = this.#needs;
    return results.flatMap(({ row, value, failure }) =>
      [row, ...(this.#sharing.get(row) ?? [])].map((sharer) => ({
        row: sharer,
        value: { ...value, subject: handles.textOf(sharer) },
        failure,
      })),
    );
  }
}
