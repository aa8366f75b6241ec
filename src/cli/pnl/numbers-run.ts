import { unitsText } from '../../base/units.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { Allowance } from '../../core/pnl/allowance.ts';
import type { SavedNumbers } from '../../core/pnl/cached-numbers.ts';
import { handlesText, numbersCalls } from '../../core/pnl/planned-calls.ts';
import { type LostBatch, PnlRun } from '../../core/pnl/pnl-run.ts';
import { answerFromJournal, type NumbersResult, requestOne } from '../../core/pnl/request-batch.ts';
import type { Targets } from '../../core/pnl/targets.ts';
import { notSent, type Plan, type Planned } from '../../core/spend/plan.ts';
import { noticeText } from '../../output/client-notice-text.ts';
import { namesText } from '../../output/notices.ts';
import { warnOfShortage } from '../run/check-left.ts';
import type { Context } from '../run/context.ts';
import type { Progress } from './progress.ts';

/** What numbers are requested for, and where answers may be already. */
export interface NumbersTask {
  readonly targets: Targets;
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
  /** The subjects that this run requested, and that the service does not know. */
  readonly missing: Subject[] = [];
  /** The subjects without a handle, and why. A later run may find one. */
  readonly unfound = new Map<Subject, NumbersResult>();
  readonly #context: Context;
  readonly #task: NumbersTask;
  readonly #progress: Progress;
  #lookups: readonly Planned[] = [];
  #todo: readonly Subject[] = [];
  #run: PnlRun | undefined;
  /** Shared by the plan and the requests, so that `me` is not asked twice. */
  #allowance: Allowance | undefined;

  private constructor(context: Context, task: NumbersTask, progress: Progress) {
    this.#context = context;
    this.#task = task;
    this.#progress = progress;
  }

  static async prepare(
    context: Context,
    task: NumbersTask,
    progress: Progress,
  ): Promise<NumbersRun> {
    const run = new NumbersRun(context, task, progress);
    run.#lookups = await task.targets.lookups(progress.open());
    await run.#takeOver();
    return run;
  }

  /** The number of subjects that are requested. */
  get size(): number {
    return this.#todo.length;
  }

  get left(): readonly Subject[] {
    return this.#run?.left ?? [];
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
    const count = this.#todo.length;
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
    const { targets } = this.#task;
    if (!targets.hasOthers || this.#todo.length === 0) return;
    const results = await targets.resolve(this.#todo, this.#context.terminal.signal);
    const final: NumbersResult[] = [];
    for (const result of results) {
      if (this.#progress.isFinal(result)) final.push(result);
      else this.unfound.set(result.subject, result);
    }
    await this.#progress.found(final);
    await this.#takeOver();
  }

  /** Not always in the order of the subjects. Throws the failure that ended the run early. */
  async *results(): AsyncGenerator<readonly NumbersResult[], void, void> {
    const { targets, saved } = this.#task;
    const { io, signal } = this.#context.terminal;
    if (this.#isAlone) {
      for (const subject of this.#todo) yield [await this.requestAlone(subject)];
      return;
    }
    if (this.#todo.length === 0) return;
    this.#run = new PnlRun({
      client: await this.#context.service.client(),
      clock: io.clock,
      allowance: await this.#openAllowance(),
      targets,
      todo: this.#todo,
      log: this.#progress.log,
      saved,
      signal,
    });
    for await (const results of this.#run.results()) {
      this.#note(results);
      yield results;
    }
  }

  #note(results: readonly NumbersResult[]): void {
    for (const { subject, record } of results)
      if (record.found === false) this.missing.push(subject);
  }

  /** Requests the numbers of one subject, without a batch. */
  async requestAlone(subject: Subject): Promise<NumbersResult> {
    const { targets, saved } = this.#task;
    const { io, signal } = this.#context.terminal;
    const client = await this.#context.service.client();
    const handle = targets.handleOf(subject) ?? subject.value;
    const options = { signal, saved, now: io.clock.now };
    const { record, failure } = await requestOne(client, handle, options);
    const result = { subject, record: { ...record, subject: subject.text }, failure };
    this.#note([result]);
    return result;
  }

  /** Reports what was lost: it may have been charged. */
  reportLost(): void {
    for (const { subjects, cuAtMost } of this.lost) {
      const cost = `which may have cost up to ${unitsText(cuAtMost)}`;
      const names = namesText(subjects.map(({ text }) => text));
      this.#context.terminal.notice(
        `lost the answers for ${handlesText(subjects.length)} (${cost}): ${names}`,
      );
    }
  }

  /**
   * Whether a single handle is requested, without a journal: then without a batch and without `me`.
   */
  get #isAlone(): boolean {
    return this.#progress.log === undefined && this.#task.targets.subjects.length === 1;
  }

  /** What is known has its row in a dry run too, and costs nothing. */
  *#calls(): Generator<Planned, void, void> {
    const { targets } = this.#task;
    yield* this.#lookups;
    yield* numbersCalls(targets, this.#todo);
    if (!this.#context.settings.flags.dryRun) return;
    const open = new Set(this.#todo);
    const known = targets.subjects.filter((subject) => !open.has(subject));
    for (const call of numbersCalls(targets, known)) yield notSent(call);
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
  async #takeOver(): Promise<void> {
    const read = await this.#readSaved();
    if (read > 0)
      this.#context.terminal.notice(
        `recovered ${handlesText(read)} from saved answers that an earlier run could not parse`,
      );
    const open = this.#progress.open().filter((subject) => !this.unfound.has(subject));
    this.#todo = await this.#withoutCached(open);
  }

  async #withoutCached(subjects: readonly Subject[]): Promise<readonly Subject[]> {
    const { saved, targets } = this.#task;
    if (!saved) return subjects;
    const rest: Subject[] = [];
    for (let at = 0; at < subjects.length; at += READ_AT_ONCE) {
      const slice = subjects.slice(at, at + READ_AT_ONCE);
      const results = saved.find(slice, (subject) => targets.handleOf(subject));
      const found = new Set(results.map(({ subject }) => subject));
      rest.push(...slice.filter((subject) => !found.has(subject)));
      for (let first = 0; first < results.length; first += CACHED_ROWS)
        await this.#progress.found(results.slice(first, first + CACHED_ROWS));
    }
    return rest;
  }

  /**
   * A newer version may parse what an earlier one could not. Returns the number of subjects that
   * need not be paid for again.
   */
  async #readSaved(): Promise<number> {
    const { targets } = this.#task;
    let count = 0;
    for (const { subjects, answer } of this.#progress.unread()) {
      const handles = subjects.map((subject) => targets.handleOf(subject) ?? subject.value);
      const results: NumbersResult[] = [];
      for (const [at, { record, failure }] of answerFromJournal(handles, answer).entries()) {
        const subject = subjects[at];
        if (subject === undefined || failure) continue;
        results.push({ subject, record: { ...record, subject: subject.text } });
      }
      await this.#progress.found(results);
      count += results.length;
    }
    return count;
  }
}
