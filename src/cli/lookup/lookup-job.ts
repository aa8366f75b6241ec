import { countText } from '../../base/units.ts';
import { type Lookup, type LookupAnswer, lookup } from '../../core/lookup/lookup.ts';
import { ordered } from '../../core/lookup/ordered.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import type { Planned } from '../../core/spend/plan.ts';
import type { SubjectSource } from '../../input/subject-list.ts';
import type { View } from '../../output/view.ts';
import { TemporaryAnswers } from '../../state/run-answers.ts';
import { type GatheredSubjects, gatherSubjects } from '../args/subjects.ts';
import { checkLeft } from '../run/approve.ts';
import type { Context } from '../run/context.ts';
import type { CommandJob } from '../run/job.ts';
import type { Out } from '../run/out.ts';
import { openProgress } from '../run/progress.ts';
import { isSpent, LookupTally, reportSkipped } from './tally.ts';

/** The number of rows that are collected before a table is printed, so that its columns fit. */
const HELD_ROWS = 200;

export const resumeCached = 'run the same command again: the answers so far are cached';
export const resumeRest = 'run the command again with the subjects that have no record yet';

/** How one subject will be looked up. */
export interface SubjectPlan {
  readonly calls: readonly Planned[];
  /** The answer, if it is known without a call. */
  readonly answer?: LookupAnswer | undefined;
  /**
   * The cheap ways to an answer, where there is a dear one too. They are tried for all subjects
   * before anything dear is paid for. Undefined if they end without an answer.
   */
  readonly findCheaply?: ((signal: AbortSignal) => Promise<LookupAnswer | undefined>) | undefined;
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
  /** What is known of the subjects before the run, for its question and its dry run. */
  readonly standing?: (() => string | undefined) | undefined;
  /** The record as it is printed; undefined if it is not. By default, every record is. */
  readonly shown?: ((record: Lookup['record']) => Lookup['record'] | undefined) | undefined;
  /** The plans are in the order of the subjects. */
  plan(subjects: readonly Subject[]): readonly SubjectPlan[];
}

/**
 * The subjects that are planned at once: enough to read each file once, few enough to keep the
 * memory flat.
 */
const PLANNED_AT_ONCE = 5_000;

/**
 * Prints one record for each subject, in their order. The subjects are read, and planned, before
 * anything is paid for.
 */
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
  const subjects = distinct(input.checked);
  const plans = planAll(subjects, task);
  const standing = task.standing?.();
  const what = `${task.doing} ${countText(plans.size, task.noun)}${standing ? ` (${standing})` : ''}`;
  if (standing && context.settings.flags.dryRun) context.terminal.notice(standing);
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

const distinct = (subjects: readonly Subject[]): readonly Subject[] => [
  ...new Map(subjects.map((subject) => [keyOf(subject), subject])).values(),
];

function planAll(
  subjects: readonly Subject[],
  task: Pick<LookupTask<never>, 'plan'>,
): Map<string, SubjectPlan> {
  const plans = new Map<string, SubjectPlan>();
  for (let at = 0; at < subjects.length; at += PLANNED_AT_ONCE) {
    const slice = subjects.slice(at, at + PLANNED_AT_ONCE);
    task.plan(slice).forEach((plan, index) => {
      const subject = slice[index];
      if (subject) plans.set(keyOf(subject), plan);
    });
  }
  return plans;
}

/**
 * Tries the cheap ways of all subjects, and returns what they found by the keys of the subjects.
 */
async function findCheaply(
  plans: ReadonlyMap<string, SubjectPlan>,
  found: Map<string, LookupAnswer>,
  signal: AbortSignal,
  report: (done: number, all: number) => void,
): Promise<void> {
  const open = [...plans].filter(([, plan]) => plan.findCheaply);
  // A single subject has nothing to wait for.
  if (open.length < 2) return;
  const ask = async ([key, plan]: (typeof open)[number], stop: AbortSignal) => {
    const answer = await plan.findCheaply?.(stop);
    return { key, answer };
  };
  let done = 0;
  for await (const { key, answer } of ordered(open, ask, { signal })) {
    if (answer) found.set(key, answer);
    report(++done, open.length);
  }
}

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
  const progress = await openProgress(context);
  progress.describe(what);
  const isApart = io.stdout.isTTY !== true || flags.out !== undefined;

  /** What is known without the dear calls, which a spending limit may end. */
  const known = new Map<string, LookupAnswer>();
  for (const [key, plan] of plans) if (plan.answer) known.set(key, plan.answer);
  let skipped: readonly Subject[] = [];
  const undelivered = new Undelivered(checked);

  function answer(subject: Subject, stop: AbortSignal): LookupAnswer | Promise<LookupAnswer> {
    const key = keyOf(subject);
    const plan = plans.get(key) ?? task.plan([subject])[0];
    return known.get(key) ?? plan?.find(stop, (text) => progress.describe(text)) ?? unplanned();
  }

  async function* lookups(): AsyncGenerator<Lookup, void, void> {
    const options = { answer, read: task.read, older: new TemporaryAnswers(), signal };
    try {
      await findCheaply(plans, known, signal, (done, all) =>
        progress.show('looking up', done, all),
      );
      for await (const found of lookup(input.all(), options)) {
        undelivered.remove(found.record.subject);
        yield found;
      }
    } catch (error) {
      skipped = undelivered.subjects();
      if (isSpent(error)) yield* knownOf(skipped, known);
      skipped = skipped.filter((subject) => !known.has(keyOf(subject)));
      throw error;
    }
  }

  async function* records(): AsyncGenerator<Lookup['record'] & T, void, void> {
    try {
      for await (const found of lookups()) {
        tally.add(found.answer);
        // Progress line and rows would overwrite each other on the same terminal.
        if (!isApart && (format !== 'table' || tally.total >= HELD_ROWS)) progress.stop();
        else if (!isSingle)
          progress.show('looking up', tally.total, hasMore ? undefined : checked.length);
        const record = task.shown ? task.shown(found.record) : found.record;
        if (record !== undefined) yield record as Lookup['record'] & T;
      }
    } finally {
      // A table is printed when all of its rows are known.
      progress.stop();
    }
  }

  try {
    await out.print(task.view, records(), { isSingle });
  } catch (error) {
    const left = skipped.map(({ text }) => text);
    // The subjects in the rest of a long input cannot be listed, because they were not read.
    if (isSpent(error) && !isSingle && !hasMore)
      reportSkipped(context.terminal, left, countText(left.length, task.noun));
    throw error;
  } finally {
    progress.stop();
  }
}

/**
 * The subjects that have no record yet. After a failure, subjects behind the one that failed may
 * have theirs.
 */
class Undelivered {
  readonly #subjects: readonly Subject[];
  /** How often each text was delivered. */
  readonly #delivered = new Map<string, number>();

  constructor(subjects: readonly Subject[]) {
    this.#subjects = subjects;
    for (const { text } of subjects) this.#delivered.set(text, 0);
  }

  /** A longer input has subjects that are not among these. */
  remove(text: string): void {
    const count = this.#delivered.get(text);
    if (count !== undefined) this.#delivered.set(text, count + 1);
  }

  subjects(): readonly Subject[] {
    const delivered = new Map(this.#delivered);
    return this.#subjects.filter(({ text }) => {
      const count = delivered.get(text) ?? 0;
      delivered.set(text, count - 1);
      return count <= 0;
    });
  }
}

/**
 * The records of subjects whose answers a run already has when it reaches its limit: they were paid
 * for.
 */
async function* knownOf(
  subjects: readonly Subject[],
  known: ReadonlyMap<string, LookupAnswer>,
): AsyncGenerator<Lookup, void, void> {
  const answered = subjects.filter((subject) => known.has(keyOf(subject)));
  const answer = (subject: Subject) => known.get(keyOf(subject)) ?? unplanned();
  yield* lookup(answered, { answer });
}

function unplanned(): never {
  throw new Error('a subject without a plan');
}
