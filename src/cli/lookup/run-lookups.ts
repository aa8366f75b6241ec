import type { View } from '../../output/view.ts';
import type { Subjects } from '../args/subjects.ts';
import type { Context } from '../context.ts';
import type { ExitCode } from '../exit.ts';
import { openProgress } from '../progress.ts';
import { unitsText } from '../spend/estimate.ts';
import { createTally, type Outcomes } from './tally.ts';

/** Lookups that take no longer than this are over before a line could be read. */
const DELAY_MS = 1_000;
/** A table is drawn when so many rows are there, or all of them. */
const HELD_ROWS = 200;

/** What is looked up, and how it is shown. */
export interface Lookups<T extends object> {
  readonly view: View<T>;
  readonly subjects: Subjects;
  readonly single: boolean;
  readonly strict: boolean;
  /** One record a subject, in their order. */
  readonly found: AsyncIterable<{ readonly record: object; readonly answer: Outcomes }>;
}

/** Prints a record a subject as it is found, says what came of them all, and gives the exit code. */
export async function runLookups<T extends object>(
  context: Context,
  { view, subjects, single, strict, found }: Lookups<T>,
): Promise<ExitCode> {
  const { io, format, globals } = context;
  const tally = createTally();
  const progress = single ? undefined : await openProgress(context, DELAY_MS);
  const isApart = io.stdout.isTTY !== true || globals.out !== undefined;
  const total = subjects.endless ? undefined : subjects.checked.length;
  await context.emit(view, single, async (out) => {
    try {
      for await (const { record, answer } of found) {
        tally.add(answer);
        // Rows and a redrawn progress line would overwrite each other on the same terminal.
        if (!isApart && (format !== 'table' || tally.total >= HELD_ROWS)) progress?.stop();
        else progress?.show('looking up', { done: tally.total, total, cu: context.spent });
        await out.write(record as T);
      }
    } finally {
      progress?.stop();
    }
  });
  if (!single && io.stderr.isTTY) context.notice(`${tally.text}, ${unitsText(context.spent)}`);
  return tally.exit(strict);
}
