import type { View } from '../../output/view.ts';
import type { Context } from '../context.ts';
import { createTextPrinter } from '../output/text-printer.ts';

const PIECE = 64 * 1024;

/** The text of a file with records, in pieces, so that memory is bounded. */
export async function* pnlText<T>(
  context: Context,
  view: View<T>,
  single: boolean,
  items: AsyncIterable<T>,
): AsyncGenerator<string> {
  const printer = await createTextPrinter(context, view, { format: context.format, single });
  for await (const item of items) {
    await printer.write(item);
    if (printer.size >= PIECE) yield printer.take().toString('utf8');
  }
  await printer.end();
  yield printer.take().toString('utf8');
}
