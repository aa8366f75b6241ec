import { Failure } from '../../base/failure.ts';
import { cu } from '../../contract/endpoints.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import { requestOne } from '../../core/pnl/batches.ts';
import { createPnlRun, type PnlRun } from '../../core/pnl/pnl-run.ts';
import type { Context } from '../context.ts';
import type { ExitCode } from '../exit.ts';
import { createTally } from '../lookup/tally.ts';
import { openProgress } from '../progress.ts';
import { approveRun } from '../spend/approve-pnl.ts';
import { unitsText } from '../spend/estimate.ts';
import { openAllowance } from './allowance.ts';
import { isWhole, present, type Shape } from './present.ts';
import { reportLost, reportSkipped } from './report.ts';

/** How often paid rows are flushed to the reader. */
const FLUSH_ROWS = 100;

/** Asks, and writes the answers as they come. Nothing of them is kept. */
export async function streamPnl(
  context: Context,
  subjects: readonly string[],
  shape: Shape,
  strict: boolean,
): Promise<ExitCode> {
  const { io, signal } = context;
  const tally = createTally();
  let run: PnlRun | undefined;

  async function* one(subject: string): AsyncGenerator<PnlRecord> {
    const client = await context.client();
    const { record, failure } = await requestOne(client, subject, { signal, now: io.clock.now });
    tally.add(record.found === null ? { found: null, failure } : record);
    yield record;
  }

  async function* many(made: PnlRun): AsyncGenerator<PnlRecord> {
    const progress = await openProgress(context);
    // Rows and a redrawn progress line would overwrite each other on the same terminal.
    const shown = io.stdout.isTTY !== true || context.globals.out !== undefined || isWhole(shape);
    try {
      for await (const results of made.results()) {
        for (const { record, failure } of results) {
          tally.add(record.found === null ? { found: null, failure } : record);
          yield record;
        }
        if (shown) progress.show('asking', { done: tally.total, total: subjects.length, cu: context.spent });
      }
    } finally {
      progress.stop();
    }
  }

  const [only] = subjects;
  let records: AsyncGenerator<PnlRecord>;
  if (subjects.length === 1 && only !== undefined) {
    await context.approve({ least: cu.miss, most: cu.reveal }, `requesting ${only}`);
    records = one(only);
  } else {
    const client = await context.client();
    const purse = openAllowance(context, client);
    await approveRun(context, purse, subjects.length);
    const todo = subjects.map((_, at) => at);
    run = createPnlRun({ client, clock: io.clock, purse, subjects, todo, signal });
    records = many(run);
  }
  try {
    await present(records, shape, (view, single, items) =>
      context.emit(view, single, async (out) => {
        let rows = 0;
        for await (const item of items) {
          await out.write(item);
          if (++rows % FLUSH_ROWS === 0) await out.flush();
        }
      }),
    );
  } catch (error) {
    if (run && error instanceof Failure) {
      reportLost(context, run.lost, subjects);
      reportSkipped(
        context,
        run.left().map((position) => subjects[position] ?? ''),
      );
    }
    throw error;
  }
  const [lost] = run?.lost ?? [];
  if (run && lost) {
    reportLost(context, run.lost, subjects);
    throw lost.failure;
  }
  if (!shape.single && io.stderr.isTTY) context.notice(`${tally.text}, ${unitsText(context.spent)}`);
  return tally.exit(strict);
}
