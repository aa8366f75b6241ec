import { createPrinter } from '../../../output/format/printer.ts';
import type { Sink } from '../../../output/sink.ts';
import type { View } from '../../../output/view.ts';
import type { TailRow } from '../../../tail/row.ts';
import type { Context } from '../../context.ts';
import { renderOptions, selectedFields } from '../../output.ts';
import { withSeenFields } from '../../seen-fields.ts';

/** Formats rows as lines of NDJSON, as they would be printed to stdout. */
export async function createEncoder(
  { io, globals, settings, notice }: Context,
  given: View<TailRow['record']>,
): Promise<(row: TailRow) => Uint8Array> {
  const view = withSeenFields(given, { globals, settings });
  let parts: Uint8Array[] = [];
  const sink: Sink = {
    write(chunk) {
      parts.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    },
    flush: async () => {},
    end: async () => {},
    abandon: async () => {},
    closed: new AbortController().signal,
  };
  const printer = await createPrinter({
    sink,
    view,
    format: 'ndjson',
    live: true,
    notify: notice,
    fields: await selectedFields(globals.fields, view),
    ...(await renderOptions(io, globals, settings)),
  });
  return ({ raw, record }) => {
    parts = [];
    if (raw !== null && printer.writeRaw) printer.writeRaw(raw);
    else printer.write(record);
    return Buffer.concat(parts);
  };
}
