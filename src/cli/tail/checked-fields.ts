import type { View } from '../../output/view.ts';
import type { PageSource } from '../../tail/ports.ts';
import type { TailRow } from '../../tail/row.ts';
import type { Context } from '../context.ts';
import { selectedFields } from '../output/output.ts';
import { withSeenFields } from '../output/seen-fields.ts';
import { createUnprintable, folderForUnprinted } from '../output/unprintable.ts';

/** The parts of a tail's plan that the check of `--fields` needs. */
interface FieldPlan {
  readonly view: View<TailRow['record']>;
  readonly source: PageSource;
}

/**
 * Uses the first page to check the names of `--fields` that the schema does not list. Otherwise a tail could
 * pay for an hour of streaming before its first post shows that a field does not exist.
 */
export async function withCheckedFields<P extends FieldPlan>(context: Context, plan: P): Promise<P> {
  const { globals, settings, io } = context;
  const { view, source } = plan;
  if (globals.fields === undefined) return plan;
  const { createFieldCheck } = await import('../../output/format/printer.ts');
  const known = withSeenFields(view, context);
  const check = createFieldCheck(known, await selectedFields(globals.fields, known));
  if (!check) return plan;
  return {
    ...plan,
    view: { ...view, checked: true },
    source: {
      ...source,
      async page(ask, signal) {
        const page = await source.page(ask, signal);
        const error = page.rows.map(({ record }) => check(record)).find((found) => found !== undefined);
        if (!error) return page;
        const unprintable = createUnprintable(error);
        for (const { record } of page.rows) unprintable.add(record);
        throw await unprintable.save(folderForUnprinted(settings.folders.state), io.clock.now());
      },
    },
  };
}
