import { countText } from '../../base/units.ts';
import { type Lookup, type LookupAnswer, lookup } from '../../core/lookup/lookup.ts';
import { ordered } from '../../core/lookup/ordered.ts';
import { type Subject, subjectKey } from '../../core/lookup/subject.ts';
import { TemporaryAnswers } from '../../state/run-answers.ts';
import type { GatheredSubjects } from '../args/subjects.ts';
import type { Context } from '../run/context.ts';
import type { Out } from '../run/out.ts';
import type { ShownProgress } from '../run/progress.ts';
import type { LookupTask, SubjectPlan } from './lookup-task.ts';
import { isSpent, type LookupTally, reportSkipped } from './tally.ts';

/** The number of rows that are collected before a table is printed, so that its columns fit. */
const HELD_ROWS = 200;

/** Looks up the subjects of a job as they were planned, and prints their records in order. */
export class LookupRun<T extends object> {
  readonly #context: Context;
  readonly #task: LookupTask<T>;
  readonly #input: GatheredSubjects;
  readonly #plans: ReadonlyMap<string, SubjectPlan>;
  readonly #tally: LookupTally;
  readonly #progress: ShownProgress;
  /** What is known without the dear calls, which a spending limit may end. */
  readonly #early = new Map<string, LookupAnswer>();
  readonly #undelivered: Undelivered;
  /** The subjects that a failure left without a record. */
  #skipped: readonly Subject[] = [];

  constructor(
    context: Context,
    task: LookupTask<T>,
    input: GatheredSubjects,
    plans: ReadonlyMap<string, SubjectPlan>,
    tally: LookupTally,
    progress: ShownProgress,
  ) {
    this.#context = context;
    this.#task = task;
    this.#input = input;
    this.#plans = plans;
    this.#tally = tally;
    this.#progress = progress;
    this.#undelivered = new Undelivered(input.checked);
    for (const [key, { answer }] of plans) if (answer) this.#early.set(key, answer);
  }

  async print(out: Out): Promise<void> {
    const { view, rows, isList = false } = this.#task;
    const isSingle = this.#input.isSingle && !isList;
    const records = this.#records();
    try {
      await out.print(view, (rows?.(records) ?? records) as AsyncIterable<T>, { isSingle });
    } catch (error) {
      if (isSpent(error)) this.#reportSkipped();
      throw error;
    } finally {
      this.#progress.stop();
    }
  }

  async *#records(): AsyncGenerator<Lookup['record'], void, void> {
    try {
      for await (const { record, answer } of this.#lookups()) {
        this.#tally.add(answer);
        this.#showProgress();
        yield record;
      }
    } finally {
      // A table is printed when all of its rows are known.
      this.#progress.stop();
    }
  }

  async *#lookups(): AsyncGenerator<Lookup, void, void> {
    const { signal } = this.#context.terminal;
    const options = {
      answer: (subject: Subject, stop: AbortSignal) => this.#answer(subject, stop),
      read: this.#task.read,
      older: new TemporaryAnswers(),
      signal,
    };
    try {
      await this.#findCheaply(signal);
      for await (const answered of lookup(this.#input.all(), options)) {
        this.#undelivered.remove(answered.record.subject);
        yield answered;
      }
    } catch (error) {
      const undelivered = this.#undelivered.subjects();
      this.#skipped = undelivered.filter((subject) => !this.#early.has(subjectKey(subject)));
      // What is known was paid for, so it reaches the user although the run ends.
      if (isSpent(error)) yield* this.#lookupsKnownOf(undelivered);
      throw error;
    }
  }

  #answer(subject: Subject, stop: AbortSignal): LookupAnswer | Promise<LookupAnswer> {
    const key = subjectKey(subject);
    const early = this.#early.get(key);
    if (early) return early;
    const find = (plan: SubjectPlan | undefined) =>
      plan?.find(stop, (text) => this.#progress.describe(text)) ?? unplanned();
    const plan = this.#plans.get(key);
    if (plan) return find(plan);
    const plans = this.#task.plan([subject]);
    return plans instanceof Promise ? plans.then(([only]) => find(only)) : find(plans[0]);
  }

  /** Tries the cheap ways for all subjects, before anything dear is paid for. */
  async #findCheaply(signal: AbortSignal): Promise<void> {
    const open = [...this.#plans].filter(([, plan]) => plan.findCheaply);
    // A single subject has nothing to wait for.
    if (open.length < 2) return;
    const ask = async ([key, plan]: (typeof open)[number], stop: AbortSignal) => ({
      key,
      answer: await plan.findCheaply?.(stop),
    });
    let done = 0;
    for await (const { key, answer } of ordered(open, ask, { signal })) {
      if (answer) this.#early.set(key, answer);
      this.#progress.show('looking up', ++done, open.length);
    }
  }

  async *#lookupsKnownOf(subjects: readonly Subject[]): AsyncGenerator<Lookup, void, void> {
    const answered = subjects.filter((subject) => this.#early.has(subjectKey(subject)));
    const answer = (subject: Subject) => this.#early.get(subjectKey(subject)) ?? unplanned();
    yield* lookup(answered, { answer });
  }

  #showProgress(): void {
    const { terminal, settings } = this.#context;
    const { checked, hasMore, isSingle } = this.#input;
    const isApart = terminal.io.stdout.isTTY !== true || settings.flags.out !== undefined;
    const arePrinted = settings.format !== 'table' || this.#tally.total >= HELD_ROWS;
    // ShownProgress line and rows would overwrite each other on the same terminal.
    if (!isApart && arePrinted) this.#progress.stop();
    else if (!isSingle)
      this.#progress.show('looking up', this.#tally.total, hasMore ? undefined : checked.length);
  }

  #reportSkipped(): void {
    const { hasMore, isSingle } = this.#input;
    // The subjects in the rest of a long input cannot be listed, because they were not read.
    if (isSingle || hasMore) return;
    const texts = this.#skipped.map(({ text }) => text);
    reportSkipped(this.#context.terminal.notice, texts, countText(texts.length, this.#task.noun));
  }
}

/**
 * The subjects that have no record yet. After a failure, subjects behind the one that failed may
 * have theirs.
 */
class Undelivered {
  readonly #subjects: readonly Subject[];
  /** How often each text was delivered. */
  readonly #delivered = new Map<string, number>();

  constructor(subjects: readonly Subject[]) {
    this.#subjects = subjects;
    for (const { text } of subjects) this.#delivered.set(text, 0);
  }

  /** A longer input has subjects that are not among these. */
  remove(text: string): void {
    const count = this.#delivered.get(text);
    if (count !== undefined) this.#delivered.set(text, count + 1);
  }

  subjects(): readonly Subject[] {
    const delivered = new Map(this.#delivered);
    return this.#subjects.filter(({ text }) => {
      const count = delivered.get(text) ?? 0;
      delivered.set(text, count - 1);
      return count <= 0;
    });
  }
}

function unplanned(): never {
  throw new Error('a subject without a plan');
}
