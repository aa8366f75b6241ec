import { Failure } from '../../base/failure.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import { handlesText } from '../../core/pnl/planned-calls.ts';
import { MemoryRows } from '../../core/rows/memory-rows.ts';
import { LookupTally, reportSkipped } from '../lookup/tally.ts';
import type { Context } from '../run/context.ts';
import type { CommandJob } from '../run/job.ts';
import { openProgress } from '../run/progress.ts';
import { noticeKnownUsers } from './former-names.ts';
import { NumbersRun, type NumbersTask } from './numbers-run.ts';
import { isWhole, present, printer, type Shape } from './present.ts';

/**
 * Prints one record per subject, cached or requested; without --sort, in the order of the subjects.
 */
export async function streamJob(
  context: Context,
  task: NumbersTask,
  shape: Shape,
  isStrict: boolean,
): Promise<CommandJob> {
  const { handles, saved } = task;
  const { subjects } = handles;
  const rows = new MemoryRows<PnlRecord>(
    subjects.length,
    (cached) => saved?.find(cached, handles) ?? [],
  );
  const run = await NumbersRun.prepare(context, task, rows);
  const tally = new LookupTally(isStrict);
  return {
    plan: run.plan,
    tally,
    async print(out) {
      try {
        await run.lookUp();
        const records = recordsOf(context, run, subjects.length, tally, shape);
        await present(records, shape, printer(out));
        await noticeKnownUsers(context, run.missing, subjects);
        const [first] = run.lost;
        if (first) throw first.failure;
      } catch (error) {
        if (error instanceof Failure) {
          run.reportLost();
          reportSkipped(context.terminal.notice, run.left, handlesText(run.left.length));
        }
        throw error;
      }
    },
  };
}

async function* recordsOf(
  context: Context,
  run: NumbersRun,
  size: number,
  tally: LookupTally,
  shape: Shape,
): AsyncGenerator<PnlRecord, void, void> {
  const { io } = context.terminal;
  const progress = await openProgress(context);
  // Progress line and rows would overwrite each other on the same terminal.
  const isApart =
    io.stdout.isTTY !== true || context.settings.flags.out !== undefined || isWhole(shape);
  const isShown = isApart && size > 1;
  try {
    for await (const { value, failure } of run.results()) {
      tally.add(value.found === null ? { found: null, failure } : value);
      if (isShown) progress.show('requesting', tally.total, size);
      yield value;
    }
  } finally {
    progress.stop();
  }
}
