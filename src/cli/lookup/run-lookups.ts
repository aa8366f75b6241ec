import { countText } from '../../base/units.ts';
import type { View } from '../../output/view.ts';
import type { Subjects } from '../args/subjects.ts';
import type { Context, Planned } from '../context.ts';
import type { ExitCode } from '../exit.ts';
import { openProgress } from '../output/progress.ts';
import { preflight } from '../spend/preflight.ts';
import { isSpent, reportSkipped } from './skipped.ts';
import { createLookupTally, type Outcomes } from './tally.ts';

/** A progress line appears only after this time, because shorter lookups end before anyone could read it. */
const DELAY_MS = 1_000;
/** The number of rows that are collected before a table is printed, so that its columns fit. */
const HELD_ROWS = 200;

interface Lookups<T extends object> {
  readonly view: View<T>;
  readonly subjects: Subjects;
  readonly strict: boolean;
  readonly planned: readonly Planned[];
  /** What the run does, such as `looking up 3 subjects`. */
  readonly what: string;
  readonly noun: 'subject' | 'handle';
  /** How to continue a run that stopped at its limit. */
  readonly resume: string;
  /** One record for each subject, in their order. `describe` shows what the run waits for. */
  readonly found: (
    describe: (text: string) => void,
  ) => AsyncIterable<{ readonly record: object; readonly answer: Outcomes }>;
}

/** Prints one record for each subject, after the checks of their cost. Returns the exit code. */
export async function runLookups<T extends object>(
  context: Context,
  { view, subjects, strict, planned, what, noun, resume, found }: Lookups<T>,
): Promise<ExitCode> {
  const { io, format, globals } = context;
  const { checked, hasMore, isSingle } = subjects;
  if (await context.dryRun(planned, view)) return 0;
  await preflight(context, planned, { hasMore, what, resume: () => resume });
  const tally = createLookupTally();
  context.setOutcome(tally);
  const progress = await openProgress(context, DELAY_MS);
  const isApart = io.stdout.isTTY !== true || globals.out !== undefined;
  const print = context.emit(view, isSingle, async (out) => {
    try {
      for await (const { record, answer } of found(progress.describe)) {
        tally.add(answer);
        // Progress line and rows would overwrite each other on the same terminal.
        if (!isApart && (format !== 'table' || tally.total >= HELD_ROWS)) progress.stop();
        else if (!isSingle) progress.show('looking up', tally.total, hasMore ? undefined : checked.length);
        const wait = out.write(record as T);
        if (wait) await wait;
      }
    } finally {
      progress.stop();
    }
  });
  try {
    await print;
  } catch (error) {
    const left = checked.slice(tally.total).map(({ text }) => text);
    // The subjects in the rest of a long input cannot be listed, because they were not read.
    if (isSpent(error) && !isSingle && !hasMore) reportSkipped(context, left, countText(left.length, noun));
    throw error;
  }
  return tally.exit(strict);
}
