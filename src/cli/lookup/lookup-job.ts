import { countText } from '../../base/units.ts';
import { type Subject, subjectKey } from '../../core/lookup/subject.ts';
import { type GatheredSubjects, gatherSubjects } from '../args/subjects.ts';
import { checkLeft } from '../run/check-left.ts';
import type { Context } from '../run/context.ts';
import type { CommandJob } from '../run/job.ts';
import { openProgress } from '../run/progress.ts';
import { LookupRun } from './lookup-run.ts';
import type { LookupTask, SubjectPlan } from './lookup-task.ts';

/**
 * The subjects that are planned at once: enough to read each file once, few enough to keep the
 * memory flat.
 */
const PLANNED_AT_ONCE = 10_000;

/**
 * Prints one record for each subject, in their order. The subjects are read, and planned, before
 * anything is paid for.
 */
export async function lookupJob<T extends object>(
  context: Context,
  task: LookupTask<T>,
): Promise<CommandJob> {
  const { view, source, tally, read, resume, isOffline } = task;
  const { terminal } = context;
  const { key } = context.settings;
  const secret = isOffline ? key.present : await key.get();
  const input =
    'words' in source ? await gatherSubjects(source, terminal, secret, read) : gathered(source);
  const subjects = distinct(input.checked);
  // What costs nothing is planned in its turn: files may have more authors than fit in memory.
  const plans = await planAll(isOffline ? [] : subjects, task);
  const remark = task.remark?.();
  const what = `${task.doing} ${countText(subjects.length, task.noun)}${remark ? ` (${remark})` : ''}`;
  if (remark && context.settings.flags.dryRun) terminal.notice(remark);
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
    async print(out) {
      const progress = await openProgress(context);
      progress.describe(what);
      await new LookupRun(context, task, input, plans, tally, progress).print(out);
    },
  };
}

const gathered = (checked: readonly Subject[]): GatheredSubjects => ({
  checked,
  hasMore: false,
  isSingle: false,
  all: () => checked,
});

const distinct = (subjects: readonly Subject[]): readonly Subject[] => [
  ...new Map(subjects.map((subject) => [subjectKey(subject), subject])).values(),
];

async function planAll(
  subjects: readonly Subject[],
  task: Pick<LookupTask<never>, 'plan'>,
): Promise<Map<string, SubjectPlan>> {
  const plans = new Map<string, SubjectPlan>();
  for (let at = 0; at < subjects.length; at += PLANNED_AT_ONCE) {
    const slice = subjects.slice(at, at + PLANNED_AT_ONCE);
    for (const [index, plan] of (await task.plan(slice)).entries()) {
      const subject = slice[index];
      if (subject) plans.set(subjectKey(subject), plan);
    }
  }
  return plans;
}
