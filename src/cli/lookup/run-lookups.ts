import { countText } from '../../base/units.ts';
import { type Lookup, lookup } from '../../core/lookup/lookup.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import type { View } from '../../output/view.ts';
import { openRunAnswers } from '../../state/run-answers.ts';
import type { SubjectSource } from '../args/input.ts';
import { gatherSubjects } from '../args/subjects.ts';
import type { ExitCode } from '../exit.ts';
import { openProgress } from '../output/progress.ts';
import type { Context } from '../run/context.ts';
import { isDryRun } from '../run/dry-run.ts';
import type { Planned } from '../run/planned.ts';
import { distinct, preflight } from '../spend/preflight.ts';
import { isSpent, LookupTally, reportSkipped } from './tally.ts';

/** A progress line appears only after this time, because shorter lookups end before anyone could read it. */
const DELAY_MS = 1_000;
/** The number of rows that are collected before a table is printed, so that its columns fit. */
const HELD_ROWS = 200;

type Answer = Parameters<typeof lookup>[1]['answer'];

interface Lookups<T extends object> {
  readonly view: View<T>;
  readonly source: SubjectSource;
  readonly read: (text: string) => Subject | Promise<Subject>;
  readonly strict: boolean;
  /** What the run does, and with what: `looking up`, `subject`. */
  readonly doing: string;
  readonly noun: string;
  readonly plan: (subjects: readonly Subject[]) => Planned[];
  readonly resume: string;
  /** Creates the function that looks up one subject. `describe` shows what the run waits for. */
  readonly answer: (describe: (text: string) => void) => Answer | Promise<Answer>;
}

/** Prints one record for each subject, after the checks of their cost. Returns the exit code. */
export async function runLookups<T extends object>(
  context: Context,
  { view, source, read, strict, doing, noun, plan, resume, answer }: Lookups<T>,
): Promise<ExitCode> {
  const { io, signal } = context.terminal;
  const { format, flags } = context.settings;
  const { checked, hasMore, isSingle, all } = await gatherSubjects(source, context, read);
  const subjects = distinct(checked);
  const planned = plan(subjects);
  if (await isDryRun(context, planned, view)) return 0;
  const what = `${doing} ${countText(subjects.length, noun)}`;
  await preflight(context, planned, what, hasMore, resume);
  const tally = new LookupTally();
  context.bill.outcome = tally;
  const progress = await openProgress(context, DELAY_MS);
  progress.describe(what);
  const isApart = io.stdout.isTTY !== true || flags.out !== undefined;
  const options = {
    answer: await answer(progress.describe),
    read,
    older: openRunAnswers(),
    signal,
  };
  const print = context.out.emit(view, isSingle, async (out) => {
    try {
      for await (const found of lookup(all(), options)) {
        tally.add(found.answer);
        // Progress line and rows would overwrite each other on the same terminal.
        if (!isApart && (format !== 'table' || tally.total >= HELD_ROWS)) progress.stop();
        else if (!isSingle)
          progress.show('looking up', tally.total, hasMore ? undefined : checked.length);
        const wait = out.write(found.record as Lookup['record'] & T);
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
    if (isSpent(error) && !isSingle && !hasMore)
      reportSkipped(context.terminal, left, countText(left.length, noun));
    throw error;
  }
  return tally.exit(strict);
}
