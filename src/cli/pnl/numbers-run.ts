import { addTo } from '../../base/add-to.ts';
import type { Failure } from '../../base/failure.ts';
import { textOf } from '../../base/json-object.ts';
import { unitsText } from '../../base/units.ts';
import { normalHandle } from '../../contract/handles.ts';
import type { Rows } from '../../contract/ports/rows.ts';
import { known } from '../../contract/read-record.ts';
import { Pnl } from '../../contract/records/pnl.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import { failedRecord } from '../../core/lookup/lookup.ts';
import { Allowance } from '../../core/pnl/allowance.ts';
import type { SavedNumbers } from '../../core/pnl/cached-numbers.ts';
import type { Handles } from '../../core/pnl/handles.ts';
import { handlesText, numbersCalls } from '../../core/pnl/planned-calls.ts';
import { type LostBatch, PnlRun } from '../../core/pnl/pnl-run.ts';
import {
  answerFromJournal,
  isRejected,
  type NumbersResult,
  requestOne,
} from '../../core/pnl/request-batch.ts';
import { inOrder } from '../../core/rows/in-order.ts';
import { notSent, type Plan, type Planned } from '../../core/spend/plan.ts';
import { noticeText } from '../../output/client-notice-text.ts';
import { namesText } from '../../output/notices.ts';
import { warnOfShortage } from '../run/check-left.ts';
import type { Context } from '../run/context.ts';

/** What numbers are requested for, and where answers may be already. */
export interface NumbersTask {
  readonly handles: Handles;
  /** The cached numbers; undefined if the run does not use them. */
  readonly saved: SavedNumbers | undefined;
}

/** The maximum number of cached answers that a run takes over at once. */
const CACHED_ROWS = 100;
/** How many of them are read at once, because each file of the cache is then read once for all. */
const READ_AT_ONCE = 2_000;

/**
 * A run that requests numbers, from its plan to its last answer. What the cache and earlier runs
 * have is taken over before the plan, so that the plan has what the run will send, and nothing
 * else.
 */
export class NumbersRun {
  /** The rows without a handle, and why. A later run may find one. */
  readonly unfound = new Map<number, Failure>();
  readonly #context: Context;
  readonly #task: NumbersTask;
  readonly #rows: Rows<PnlRecord>;
  #lookups: readonly Planned[] = [];
  #run: PnlRun | undefined;
  /** The rows that were requested alone, and that the service does not know. */
  readonly #missingAlone: number[] = [];
  /** Shared by the plan and the requests, so that `me` is not asked twice. */
  #allowance: Allowance | undefined;

  private constructor(context: Context, task: NumbersTask, rows: Rows<PnlRecord>) {
    this.#context = context;
    this.#task = task;
    this.#rows = rows;
  }

  static async prepare(
    context: Context,
    task: NumbersTask,
    rows: Rows<PnlRecord>,
  ): Promise<NumbersRun> {
    const run = new NumbersRun(context, task, rows);
    run.#lookups = await task.handles.lookups(rows.states.open());
    run.#takeOver();
    return run;
  }

  /** The number of rows that have no result yet. */
  get open(): number {
    const { states } = this.#rows;
    return states.count('open') + states.count('waiting');
  }

  /** The texts of the rows that were skipped. */
  get left(): readonly string[] {
    return (this.#run?.left ?? []).map((row) => this.#task.handles.textOf(row));
  }

  /** The rows that this run requested, and that the service does not know. */
  get missing(): readonly number[] {
    return [...(this.#run?.missing ?? []), ...this.#missingAlone];
  }

  get lost(): readonly LostBatch[] {
    return this.#run?.lost ?? [];
  }

  /**
   * The run requests only as many handles as the units and reveals that are left cover, so a
   * shortage is not a failure.
   */
  get plan(): Plan {
    const { settings, terminal } = this.#context;
    const count = this.#rows.states.count('open');
    return {
      calls: [...this.#calls()],
      costs: (cost) => `This will cost ${cost} for ${handlesText(count)}`,
      check: async ({ least, most }) => {
        if (count === 0 || this.#isAlone) return;
        const left = await (await this.#openAllowance()).refresh(terminal.signal);
        const estimate = { least, most, reveals: count };
        if (left) warnOfShortage({ settings, terminal }, 'the run', estimate, left);
      },
    };
  }

  /** Looks up the handles of wallets and user ids. Their numbers may then be cached. */
  async lookUp(): Promise<void> {
    const { handles } = this.#task;
    const { states } = this.#rows;
    if (!handles.hasOthers || states.count('open') === 0) return;
    const results = await handles.resolve(states.open(), this.#context.terminal.signal);
    for (const { row, failure } of results) {
      // A later run would get the same answer to a rejected lookup.
      if (failure === undefined || (this.#rows.isKept && isRejected(failure))) continue;
      states.fail(row);
      this.unfound.set(row, failure);
    }
    this.#rows.take(results.filter(({ row }) => !this.unfound.has(row)));
    this.#takeOver();
    this.#takeShared();
  }

  /** Requests the next batch. Returns false without one; throws the failure that ends the run. */
  async step(): Promise<boolean> {
    if (this.#isAlone || (this.#run === undefined && this.open === 0)) return false;
    const { handles, saved } = this.#task;
    const { io, signal } = this.#context.terminal;
    this.#run ??= new PnlRun({
      client: await this.#context.service.client(),
      clock: io.clock,
      allowance: await this.#openAllowance(),
      handles,
      rows: this.#rows,
      saved,
      signal,
    });
    return await this.#run.step();
  }

  /** All results in the order of the subjects, then the failure that ended the run early. */
  results(): AsyncGenerator<NumbersResult, void, void> {
    return this.#inOrder(() => this.step());
  }

  /** The results that there are, in the order of the subjects. */
  resultsSoFar(): AsyncGenerator<NumbersResult, void, void> {
    return this.#inOrder(async () => false);
  }

  #inOrder(step: () => Promise<boolean>): AsyncGenerator<NumbersResult, void, void> {
    return inOrder(this.#rows.states, { resultOf: (row) => this.#resultOf(row), step });
  }

  async #resultOf(row: number): Promise<NumbersResult | undefined> {
    const { states } = this.#rows;
    const failure = this.unfound.get(row) ?? this.#run?.failures.get(row);
    this.#run?.failures.delete(row);
    const text = this.#task.handles.textOf(row);
    const value = this.#rows.read(row) ?? (failure && failedRecord(text, failure));
    if (value) return { row, value, failure };
    // A cached answer is missing if it has expired in the meantime, or if another process has
    // cleared the cache.
    const isGone = states.of(row) === 'answered';
    return isGone || this.#isAlone ? await this.#requestAlone(row) : undefined;
  }

  /** Requests the numbers of one row, without a batch. */
  async #requestAlone(row: number): Promise<NumbersResult> {
    const { handles, saved } = this.#task;
    const { io, signal } = this.#context.terminal;
    const client = await this.#context.service.client();
    const options = { signal, saved, now: io.clock.now };
    const { record, failure } = await requestOne(client, handles.nameOf(row), options);
    if (record.found === false) this.#missingAlone.push(row);
    return { row, value: { ...record, subject: handles.textOf(row) }, failure };
  }

  /** Reports what was lost: it may have been charged. */
  reportLost(): void {
    for (const { rows, cuAtMost } of this.lost) {
      const cost = `which may have cost up to ${unitsText(cuAtMost)}`;
      const names = namesText(rows.map((row) => this.#task.handles.textOf(row)));
      this.#context.terminal.notice(
        `lost the answers for ${handlesText(rows.length)} (${cost}): ${names}`,
      );
    }
  }

  /**
   * Whether a single handle is requested, without a journal: then without a batch and without `me`.
   */
  get #isAlone(): boolean {
    return !this.#rows.isKept && this.#rows.states.size === 1;
  }

  /** What is known has its row in a dry run too, and costs nothing. */
  *#calls(): Generator<Planned, void, void> {
    const { handles } = this.#task;
    const { states } = this.#rows;
    yield* this.#lookups;
    yield* numbersCalls(handles, states.open());
    if (!this.#context.settings.flags.dryRun) return;
    const settled = [...handles.subjects.keys()].filter((row) => states.of(row) !== 'open');
    for (const call of numbersCalls(handles, settled)) yield notSent(call);
  }

  async #openAllowance(): Promise<Allowance> {
    const { service, settings, terminal } = this.#context;
    const client = await service.client();
    this.#allowance ??= new Allowance(
      client,
      terminal.io.clock,
      { maxCu: settings.maxCu, maxReveals: settings.flags.maxReveals },
      (event) => terminal.notice(noticeText(event)),
    );
    return this.#allowance;
  }

  /** Takes over what earlier runs and the cache have. Called again when more handles are known. */
  #takeOver(): void {
    const read = this.#readSaved();
    if (read > 0)
      this.#context.terminal.notice(
        `recovered ${handlesText(read)} from saved answers that an earlier run could not parse`,
      );
    const { handles, saved } = this.#task;
    if (!saved) return;
    const open = this.#rows.states.open();
    for (let at = 0; at < open.length; at += READ_AT_ONCE) {
      const results = saved.find(open.slice(at, at + READ_AT_ONCE), handles);
      for (let first = 0; first < results.length; first += CACHED_ROWS)
        this.#rows.cached(results.slice(first, first + CACHED_ROWS));
    }
  }

  /**
   * Takes over the numbers that an earlier run has for another row with the same handle, when the
   * lookup of this one failed.
   */
  #takeShared(): void {
    const { handles } = this.#task;
    const { states, isKept } = this.#rows;
    if (!isKept || states.count('answered') === 0) return;
    const open = new Map<string, number[]>();
    for (const row of states.open()) {
      if (handles.subjects[row]?.type === 'handle') continue;
      addTo(open, normalHandle(handles.nameOf(row)), row);
    }
    for (let row = 0; row < states.size && open.size > 0; row++) {
      const value = states.of(row) === 'answered' ? this.#rows.read(row) : undefined;
      if (value?.found !== true) continue;
      const handle = normalHandle(textOf(value['handle']) ?? '');
      const same = open.get(handle)?.filter((other) => handles.isOf(other, known(Pnl, value)));
      if (same === undefined || same.length === 0) continue;
      const texts = same.map((other) => ({ row: other, subject: handles.textOf(other) }));
      this.#rows.take(texts.map(({ row, subject }) => ({ row, value: { ...value, subject } })));
      open.delete(handle);
    }
  }

  /**
   * A newer version may parse what an earlier one could not. Returns the number of rows that need
   * not be paid for again.
   */
  #readSaved(): number {
    const { handles } = this.#task;
    let count = 0;
    for (const { rows, text } of this.#rows.unread()) {
      const answers = answerFromJournal(
        rows.map((row) => handles.nameOf(row)),
        text,
      );
      const results = rows.flatMap((row, at) => {
        const answer = answers[at];
        if (answer === undefined || answer.failure) return [];
        return [{ row, value: { ...answer.record, subject: handles.textOf(row) } }];
      });
      this.#rows.take(results);
      count += results.length;
    }
    return count;
  }
}
