import { usageError } from '../../base/failure.ts';
import type { Planned } from '../../core/spend/plan.ts';
import type { View } from '../../output/view.ts';
import type { Context } from './context.ts';
import { selectedFields } from './open-printer.ts';

/**
 * Prints the calls of a dry run, and returns whether this is one. Any other run has its --fields
 * checked, before anything is sent.
 */
export async function printDryRun(
  context: Context,
  calls: Iterable<Planned>,
  view?: Pick<View<never>, 'fields'>,
): Promise<boolean> {
  const { flags } = context.settings;
  if (!flags.dryRun) {
    if (flags.curl)
      throw usageError('--curl requires --dry-run', 'add --dry-run, which sends nothing');
    if (view) await selectedFields(flags.fields, view);
    return false;
  }
  if (flags.curl) {
    const { printCurl } = await import('./curl.ts');
    await printCurl(context, calls);
    return true;
  }
  const { printPlan } = await import('./print-plan.ts');
  await printPlan(context, calls);
  return true;
}
