import { createPrinter } from '../../output/format/printer.ts';
import type { Sink } from '../../output/sink.ts';
import type { View } from '../../output/view.ts';
import type { Context } from '../context.ts';
import { renderOptions, selectedFields } from '../output.ts';
import { withSeenFields } from '../seen-fields.ts';

const PIECE = 64 * 1024;

/** The text of a file with records, in pieces, so that memory is bounded. */
export async function* pnlText<T>(
  { io, globals, settings, format, notice }: Context,
  given: View<T>,
  single: boolean,
  items: AsyncIterable<T>,
): AsyncGenerator<string> {
  let text = '';
  const take = async () => {};
  const sink: Sink = {
    write(chunk) {
      text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
    },
    flush: take,
    end: take,
    abandon: take,
    closed: new AbortController().signal,
  };
  const view = withSeenFields(given, { globals, settings });
  const fields = await selectedFields(globals.fields, view);
  const appearance = await renderOptions(io, globals, settings);
  const printer = await createPrinter({ sink, view, format, fields, single, notify: notice, ...appearance });
  for await (const item of items) {
    await printer.write(item);
    if (text.length < PIECE) continue;
    yield text;
    text = '';
  }
  await printer.end();
  yield text;
}
