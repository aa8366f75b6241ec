import { Failure } from '../../base/failure.ts';
import { cu } from '../../contract/endpoints.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import { type PnlResult, requestOne } from '../../core/pnl/batches.ts';
import { inOrder } from '../../core/pnl/in-order.ts';
import { createPnlRun, type PnlRun } from '../../core/pnl/pnl-run.ts';
import type { SavedNumbers } from '../../core/pnl/saved-numbers.ts';
import type { Context } from '../context.ts';
import type { ExitCode } from '../exit.ts';
import { createLookupTally } from '../lookup/tally.ts';
import { openProgress } from '../progress.ts';
import { approveRun } from '../spend/approve-pnl.ts';
import { unitsText } from '../spend/estimate.ts';
import { openAllowance } from './allowance.ts';
import { isWhole, present, type Shape } from './present.ts';
import { reportLost, reportSkipped } from './report.ts';
import { divide, everyPosition } from './saved.ts';

/** How often paid rows are flushed to the reader. */
const FLUSH_ROWS = 100;

export interface StreamOptions {
  readonly shape: Shape;
  readonly strict: boolean;
  readonly saved: SavedNumbers | undefined;
}

/** Prints cached answers, and requested ones as they come. */
export async function streamPnl(
  context: Context,
  subjects: readonly string[],
  { shape, strict, saved }: StreamOptions,
): Promise<ExitCode> {
  const { io, signal } = context;
  const tally = createLookupTally();
  const { todo, isCached } = await divide(saved, subjects, everyPosition(subjects));
  let run: PnlRun | undefined;

  async function request(position: number): Promise<PnlResult> {
    const client = await context.client();
    const result = await requestOne(client, subjects[position] ?? '', { signal, saved, now: io.clock.now });
    return { ...result, position };
  }

  async function cachedAt(position: number): Promise<PnlResult | undefined> {
    if (!isCached(position)) return undefined;
    const record = await saved?.find(subjects[position] ?? '');
    // Another process may have cleared the cache since.
    return record ? { position, record } : await request(position);
  }

  async function* requested(): AsyncGenerator<readonly PnlResult[]> {
    if (run) yield* run.results();
    else for (const position of todo) yield [await request(position)];
  }

  async function* records(): AsyncGenerator<PnlRecord> {
    const progress = await openProgress(context);
    // Rows and a redrawn progress line would overwrite each other on the same terminal.
    const apart = io.stdout.isTTY !== true || context.globals.out !== undefined || isWhole(shape);
    const shown = apart && subjects.length > 1;
    try {
      const results = inOrder({ size: subjects.length, saved: cachedAt, requested: requested() });
      for await (const { record, failure } of results) {
        tally.add(record.found === null ? { found: null, failure } : record);
        if (shown) progress.show('asking', { done: tally.total, total: subjects.length, cu: context.spent });
        yield record;
      }
    } finally {
      progress.stop();
    }
  }

  const [only] = subjects;
  if (subjects.length === 1 && todo.length === 1) {
    await context.approve({ least: cu.miss, most: cu.reveal }, `requesting ${only}`);
  } else if (todo.length > 0) {
    const client = await context.client();
    const purse = openAllowance(context, client);
    await approveRun(context, purse, todo.length);
    run = createPnlRun({ client, clock: io.clock, purse, subjects, todo, saved, signal });
  }
  try {
    await present(records(), shape, (view, single, items) =>
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
