import { countText, unitsText } from '../../base/units.ts';
import type { Plan } from '../../core/spend/plan.ts';
import type { View } from '../../output/view.ts';
import type { ExitCode } from '../exit.ts';
import { approve } from './approve.ts';
import type { RunOutcome } from './bill.ts';
import type { Context } from './context.ts';
import { printDryRun } from './dry-run.ts';
import type { Out } from './out.ts';

/** The results of a run, which count themselves and know its exit code. */
export interface Tally extends RunOutcome {
  exit(): ExitCode;
}

/** A paid run as a value: what it would send, what it prints, and what it counts. */
export interface CommandJob {
  readonly plan: Plan;
  /** What --fields is checked against; undefined if the run prints no records. */
  readonly view?: Pick<View<never>, 'fields'>;
  readonly tally?: Tally;
  /** Sends the calls of the plan, and prints what they return. */
  print(out: Out): Promise<void>;
}

/**
 * Runs a job: with --dry-run, prints its plan; otherwise asks, sends, prints and counts. Returns
 * the exit code.
 */
export async function runJob(job: CommandJob, context: Context): Promise<ExitCode> {
  if (await printDryRun(context, job.plan.calls, job.view)) return 0;
  const estimate = await approve(job.plan, context);
  context.bill.outcome = job.tally;
  try {
    await job.print(context.out);
  } finally {
    noticeExcess(context, estimate?.most ?? Number.POSITIVE_INFINITY);
  }
  return job.tally?.exit() ?? 0;
}

/** Says that the run has cost more than it stated before. */
function noticeExcess({ terminal, bill }: Context, stated: number): void {
  if (bill.spent > stated)
    terminal.notice(
      `${unitsText(bill.spent)} is more than the ${unitsText(stated)} that were expected: pages had few posts, or calls were repeated`,
    );
}

/** Counts the rows of a list. */
export class RowTally implements Tally {
  total = 0;
  readonly #nouns: readonly [one: string, many?: string];

  constructor(...nouns: readonly [one: string, many?: string]) {
    this.#nouns = nouns;
  }

  get found(): number {
    return this.total;
  }

  get text(): string {
    return countText(this.total, ...this.#nouns);
  }

  exit(): ExitCode {
    return 0;
  }

  /** The same rows, counted as they pass. */
  async *counting<T>(rows: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T, void, void> {
    for await (const row of rows) {
      this.total++;
      yield row;
    }
  }
}
