import { countText } from '../../base/units.ts';
import type { View } from '../../output/view.ts';
import type { Subjects } from '../args/subjects.ts';
import type { Context } from '../context.ts';
import type { ExitCode } from '../exit.ts';
import { openProgress } from '../output/progress.ts';
import { isSpent, reportSkipped } from './skipped.ts';
import { createLookupTally, type Outcomes } from './tally.ts';

/** A progress line appears only after this time, because shorter lookups end before anyone could read it. */
const DELAY_MS = 1_000;
/** The number of rows that are collected before a table is printed, so that its columns fit. */
const HELD_ROWS = 200;

interface Lookups<T extends object> {
  readonly view: View<T>;
  readonly subjects: Subjects;
  readonly single: boolean;
  readonly strict: boolean;
  /** One record for each subject, in the order of the subjects. */
  readonly found: AsyncIterable<{ readonly record: object; readonly answer: Outcomes }>;
}

/**
 * Prints one record for each subject. If a limit ends the run, reports the skipped subjects. Returns the exit
 * code.
 */
export async function runLookups<T extends object>(
  context: Context,
  { view, subjects, single, strict, found }: Lookups<T>,
): Promise<ExitCode> {
  const { io, format, globals } = context;
  const tally = createLookupTally();
  context.setOutcome(tally);
  const progress = single ? undefined : await openProgress(context, DELAY_MS);
  const isApart = io.stdout.isTTY !== true || globals.out !== undefined;
  const total = subjects.hasMore ? undefined : subjects.checked.length;
  const run = context.emit(view, single, async (out) => {
    try {
      for await (const { record, answer } of found) {
        tally.add(answer);
        // Show no progress line if rows are printed on the same terminal, because line and rows would
        // overwrite each other.
        if (!isApart && (format !== 'table' || tally.total >= HELD_ROWS)) progress?.stop();
        else progress?.show('looking up', tally.total, total);
        const wait = out.write(record as T);
        if (wait) await wait;
      }
    } finally {
      progress?.stop();
    }
  });
  try {
    await run;
  } catch (error) {
    const left = subjects.checked.slice(tally.total).map(({ text }) => text);
    // The subjects in the rest of a long input cannot be listed, because they were not read.
    if (isSpent(error) && !single && !subjects.hasMore) {
      reportSkipped(context, left, countText(left.length, 'subject'));
    }
    throw error;
  }
  return tally.exit(strict);
}
