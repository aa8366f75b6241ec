import type { View } from '../../output/view.ts';
import { selectedFields } from '../output/output.ts';
import type { Context } from './context.ts';
import type { Planned } from './planned.ts';

/** With --dry-run, prints the calls and returns true. Otherwise, rejects wrong --fields before anything is sent. */
export async function isDryRun(
  context: Context,
  planned: Iterable<Planned>,
  view?: Pick<View<unknown>, 'fields'>,
): Promise<boolean> {
  const { flags } = context.settings;
  if (!flags.dryRun) {
    if (view) await selectedFields(flags.fields, view);
    return false;
  }
  const { printDryRun } = await import('../spend/plan.ts');
  await printDryRun(context, planned);
  return true;
}
