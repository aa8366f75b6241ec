import type { View } from '../../../output/view.ts';
import type { TailRow } from '../../../tail/row.ts';
import type { Context } from '../../context.ts';
import { createTextPrinter } from '../../output/text-printer.ts';

/** Formats rows as lines of NDJSON, like the lines that a tail without --exec prints. */
export async function createEncoder(
  context: Context,
  view: View<TailRow['record']>,
): Promise<(row: TailRow) => Uint8Array> {
  const printer = await createTextPrinter(context, view, { format: 'ndjson', live: true });
  return ({ raw, record }) => {
    if (raw !== null && printer.writeRaw) printer.writeRaw(raw);
    else printer.write(record);
    return printer.take();
  };
}
