import { countText } from '../../base/units.ts';
import { type Lookup, type LookupAnswer, lookup } from '../../core/lookup/lookup.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import type { View } from '../../output/view.ts';
import { openRunAnswers } from '../../state/run-answers.ts';
import type { SubjectSource } from '../args/input.ts';
import { type GatheredSubjects, gatherSubjects } from '../args/subjects.ts';
import { checkLeft } from '../run/approve.ts';
import type { Context } from '../run/context.ts';
import type { CommandJob } from '../run/job.ts';
import type { Out } from '../run/out.ts';
import type { Planned } from '../run/plan.ts';
import { openProgress } from '../run/progress.ts';
import { isSpent, LookupTally, reportSkipped } from './tally.ts';

/** A progress line appears only after this time, because shorter lookups end before anyone could read it. */
const DELAY_MS = 1_000;
/** The number of rows that are collected before a table is printed, so that its columns fit. */
const HELD_ROWS = 200;

export const resumeCached = 'run the same command again: the answers so far are cached';
export const resumeRest = 'run the command again with the subjects that have no record yet';

/** How one subject will be looked up. */
export interface SubjectPlan {
  readonly calls: readonly Planned[];
  /** Looks the subject up as planned. `describe` shows what the run waits for. */
  find(signal: AbortSignal, describe: (text: string) => void): LookupAnswer | Promise<LookupAnswer>;
}

interface LookupTask<T extends object> {
  readonly view: View<T>;
  readonly source: SubjectSource;
  readonly read: (text: string) => Subject | Promise<Subject>;
  readonly strict: boolean;
  /** What the run does, and with what: `looking up`, `subject`. */
  readonly doing: string;
  readonly noun: string;
  /** How to continue a run that reached its limit. */
  readonly resume: string;
  plan(subject: Subject): SubjectPlan;
}

/** Prints one record for each subject, in their order. The subjects are read, and planned, before anything is paid for. */
export async function lookupJob<T extends object>(
  context: Context,
  task: LookupTask<T>,
): Promise<CommandJob> {
  const { view, source, read, strict, resume } = task;
  const input = await gatherSubjects(
    source,
    context.terminal,
    await context.settings.key.get(),
    read,
  );
  const plans = new Map<string, SubjectPlan>();
  for (const subject of input.checked) {
    const key = keyOf(subject);
    if (!plans.has(key)) plans.set(key, task.plan(subject));
  }
  const what = `${task.doing} ${countText(plans.size, task.noun)}`;
  const tally = new LookupTally(strict);
  return {
    plan: {
      calls: [...plans.values()].flatMap(({ calls }) => calls),
      isOpen: input.hasMore,
      costs: (cost) => `${what[0]?.toUpperCase()}${what.slice(1)} will cost ${cost}`,
      tellsLimit: true,
      stopped: (spent) => ({
        message: `stopped after ${spent}; there are more subjects`,
        hint: resume,
      }),
      check: (estimate) => checkLeft(context, what, estimate),
    },
    view,
    tally,
    print: (out) => printLookups(context, task, input, plans, what, tally, out),
  };
}

const keyOf = ({ type, normal }: Subject) => `${type}:${normal}`;

async function printLookups<T extends object>(
  context: Context,
  task: LookupTask<T>,
  input: GatheredSubjects,
  plans: ReadonlyMap<string, SubjectPlan>,
  what: string,
  tally: LookupTally,
  out: Out,
): Promise<void> {
  const { io, signal } = context.terminal;
  const { flags, format } = context.settings;
  const { checked, hasMore, isSingle } = input;
  const progress = await openProgress(context, DELAY_MS);
  progress.describe(what);
  const isApart = io.stdout.isTTY !== true || flags.out !== undefined;

  function answer(subject: Subject, stop: AbortSignal): LookupAnswer | Promise<LookupAnswer> {
    const plan = plans.get(keyOf(subject)) ?? task.plan(subject);
    return plan.find(stop, progress.describe);
  }

  async function* records(): AsyncGenerator<Lookup['record'] & T, void, void> {
    const options = { answer, read: task.read, older: openRunAnswers(), signal };
    for await (const found of lookup(input.all(), options)) {
      tally.add(found.answer);
      // Progress line and rows would overwrite each other on the same terminal.
      if (!isApart && (format !== 'table' || tally.total >= HELD_ROWS)) progress.stop();
      else if (!isSingle)
        progress.show('looking up', tally.total, hasMore ? undefined : checked.length);
      yield found.record as Lookup['record'] & T;
    }
  }

  try {
    await out.print(task.view, records(), { isSingle });
  } catch (error) {
    const left = checked.slice(tally.total).map(({ text }) => text);
    // The subjects in the rest of a long input cannot be listed, because they were not read.
    if (isSpent(error) && !isSingle && !hasMore)
      reportSkipped(context.terminal, left, countText(left.length, task.noun));
    throw error;
  } finally {
    progress.stop();
  }
}
