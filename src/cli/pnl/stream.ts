import { Failure } from '../../base/failure.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import type { SavedNumbers } from '../../core/pnl/cached-numbers.ts';
import { inOrder } from '../../core/pnl/merge-answers.ts';
import { type PnlResult, requestOne } from '../../core/pnl/request-batch.ts';
import type { Targets } from '../../core/pnl/targets.ts';
import type { Context } from '../context.ts';
import type { ExitCode } from '../exit.ts';
import { LookupTally, reportSkipped } from '../lookup/tally.ts';
import { openProgress } from '../output/progress.ts';
import { handlesText } from '../spend/preflight.ts';
import { beginRun, reportLost } from './begin-run.ts';
import { isWhole, present, printer, type Shape } from './present.ts';

/** Prints one record per subject, cached or requested; without --sort, in the order of the subjects. */
export async function streamPnl(
  context: Context,
  targets: Targets,
  shape: Shape,
  strict: boolean,
  saved: SavedNumbers | undefined,
): Promise<ExitCode> {
  const { io, signal } = context;
  const { texts: subjects, handleAt } = targets;
  const tally = new LookupTally();
  context.setOutcome(tally);
  const { run, todo, unfound, isCached } = await beginRun(context, targets, saved);

  async function request(position: number): Promise<PnlResult> {
    const client = await context.client();
    const subject = subjects[position] ?? '';
    const handle = handleAt(position) ?? subject;
    const { record, failure } = await requestOne(client, handle, { signal, saved });
    return { position, record: { ...record, subject }, failure };
  }

  async function cachedAt(position: number): Promise<PnlResult | undefined> {
    if (!isCached(position)) return unfound.get(position);
    const record = await saved?.find(handleAt(position) ?? '', subjects[position]);
    // The answer is missing if it has expired in the meantime, or if another process has cleared the cache.
    return record ? { position, record } : await request(position);
  }

  async function* requested(): AsyncGenerator<readonly PnlResult[]> {
    if (run) yield* run.results();
    else for (const position of todo) yield [await request(position)];
  }

  async function* records(): AsyncGenerator<PnlRecord> {
    const progress = await openProgress(context);
    // Progress line and rows would overwrite each other on the same terminal.
    const apart = io.stdout.isTTY !== true || context.globals.out !== undefined || isWhole(shape);
    const shown = apart && subjects.length > 1;
    try {
      for await (const { record, failure } of inOrder(subjects.length, cachedAt, requested())) {
        tally.add(record.found === null ? { found: null, failure } : record);
        if (shown) progress.show('requesting', tally.total, subjects.length);
        yield record;
      }
    } finally {
      progress.stop();
    }
  }

  try {
    await present(records(), shape, printer(context));
    if (run?.lost[0]) throw run.lost[0].failure;
  } catch (error) {
    if (run && error instanceof Failure) {
      reportLost(context, run, targets);
      const left = run.left().map((position) => subjects[position] ?? '');
      reportSkipped(context, left, handlesText(left.length));
    }
    throw error;
  }
  return tally.exit(strict);
}
