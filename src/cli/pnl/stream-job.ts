import { Failure } from '../../base/failure.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { inOrder } from '../../core/pnl/merge-answers.ts';
import { handlesText } from '../../core/pnl/planned-calls.ts';
import type { NumbersResult } from '../../core/pnl/request-batch.ts';
import { LookupTally, reportSkipped } from '../lookup/tally.ts';
import type { Context } from '../run/context.ts';
import type { CommandJob } from '../run/job.ts';
import { openProgress } from '../run/progress.ts';
import { noticeKnownUsers } from './former-names.ts';
import { NumbersRun, type NumbersTask } from './numbers-run.ts';
import { isWhole, present, printer, type Shape } from './present.ts';
import { MemoryProgress } from './progress.ts';

/**
 * Prints one record per subject, cached or requested; without --sort, in the order of the subjects.
 */
export async function streamJob(
  context: Context,
  task: NumbersTask,
  shape: Shape,
  isStrict: boolean,
): Promise<CommandJob> {
  const progress = new MemoryProgress(task.targets.subjects);
  const run = await NumbersRun.prepare(context, task, progress);
  const tally = new LookupTally(isStrict);
  return {
    plan: run.plan,
    tally,
    async print(out) {
      try {
        await run.lookUp();
        const records = recordsOf(context, task, run, progress, tally, shape);
        await present(records, shape, printer(out));
        await noticeKnownUsers(context, run.missing);
        const [first] = run.lost;
        if (first) throw first.failure;
      } catch (error) {
        if (error instanceof Failure) {
          run.reportLost();
          const left = run.left.map(({ text }) => text);
          reportSkipped(context.terminal.notice, left, handlesText(left.length));
        }
        throw error;
      }
    },
  };
}

async function* recordsOf(
  context: Context,
  { targets, saved }: NumbersTask,
  run: NumbersRun,
  known: MemoryProgress,
  tally: LookupTally,
  shape: Shape,
): AsyncGenerator<PnlRecord, void, void> {
  const { io } = context.terminal;
  const { subjects } = targets;

  const handleOf = (subject: Subject) => targets.handleOf(subject);
  const cached = subjects.filter((subject) => known.has(subject));
  const ahead = new ReadAhead(cached, (slice) => saved?.find(slice, handleOf) ?? []);

  async function find(subject: Subject): Promise<NumbersResult | undefined> {
    if (!known.has(subject)) return run.unfound.get(subject);
    // The answer is missing if it has expired in the meantime, or if another process has cleared
    // the cache.
    return ahead.take(subject) ?? (await run.requestAlone(subject));
  }

  const progress = await openProgress(context);
  // Progress line and rows would overwrite each other on the same terminal.
  const isApart =
    io.stdout.isTTY !== true || context.settings.flags.out !== undefined || isWhole(shape);
  const isShown = isApart && subjects.length > 1;
  try {
    for await (const { record, failure } of inOrder(subjects, find, run.results())) {
      tally.add(record.found === null ? { found: null, failure } : record);
      if (isShown) progress.show('requesting', tally.total, subjects.length);
      yield record;
    }
  } finally {
    progress.stop();
  }
}

/** How many cached answers are in memory at once: enough to read each file for several of them. */
const READ_AHEAD = 2_000;

/** Cached results, which are read a slice at a time and taken in the order of their subjects. */
class ReadAhead {
  readonly #subjects: readonly Subject[];
  readonly #read: (slice: readonly Subject[]) => readonly NumbersResult[];
  #at = 0;
  #results: ReadonlyMap<Subject, NumbersResult> = new Map();

  constructor(
    subjects: readonly Subject[],
    read: (slice: readonly Subject[]) => readonly NumbersResult[],
  ) {
    this.#subjects = subjects;
    this.#read = read;
  }

  take(subject: Subject): NumbersResult | undefined {
    if (this.#subjects[this.#at] === subject) {
      const slice = this.#subjects.slice(this.#at, this.#at + READ_AHEAD);
      this.#at += slice.length;
      this.#results = new Map(this.#read(slice).map((result) => [result.subject, result]));
    }
    return this.#results.get(subject);
  }
}
