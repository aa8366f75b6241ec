import { usageError } from '../../../base/failure.ts';
import type { Context } from '../../context.ts';
import { selectedFields } from '../../output/output.ts';
import type { ExecFlags, TailFlags } from '../flags.ts';
import { resumableOut } from '../lock-files.ts';
import type { OutputPlan } from './open.ts';

/**
 * Rejects invalid output flags, and an `--out` from which a tail could not resume, before anything is paid for. A
 * tail resumes from NDJSON whose records have an id and a post time.
 */
export async function checkOutput(
  context: Context,
  { view, timeField }: Pick<OutputPlan, 'view' | 'timeField'>,
  flags: ExecFlags & Pick<TailFlags, 'rotate'>,
): Promise<void> {
  const { globals, format } = context;
  const fields = await selectedFields(globals.fields, view);
  if (flags.rotate !== undefined && resumableOut(globals.out) === undefined)
    throw usageError('--rotate requires --out FILE', 'add --out FILE');
  if (flags.exec !== undefined) (await import('../exec/open.ts')).checkExec(context, flags);
  if (globals.out === undefined) return;
  if (format !== 'ndjson') {
    throw usageError(
      `a tail can resume only from an NDJSON file, so --out cannot be ${format}`,
      'use the extension .ndjson',
    );
  }
  if (fields && !['id', timeField].every((name) => fields.includes(name))) {
    throw usageError(
      `without the fields id and ${timeField}, a tail cannot resume from its --out`,
      'add them to --fields',
    );
  }
}
