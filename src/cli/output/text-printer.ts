import { createPrinter } from '../../output/format/printer.ts';
import type { PrinterOptions } from '../../output/format/printing.ts';
import type { Sink } from '../../output/sink.ts';
import type { View } from '../../output/view.ts';
import type { Context } from '../context.ts';
import { renderOptions, selectedFields } from './output.ts';

/**
 * Formats records as the flags of the run require, but collects them instead of writing them to the output.
 */
export async function createTextPrinter<T>(
  { io, globals, settings, notice }: Context,
  view: View<T>,
  how: Pick<PrinterOptions<T>, 'format' | 'single' | 'live'>,
) {
  let parts: Uint8Array[] = [];
  let size = 0;
  const nothing = async () => {};
  const sink: Sink = {
    write(chunk) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      parts.push(bytes);
      size += bytes.length;
    },
    flush: nothing,
    finish: async () => undefined,
    closed: new AbortController().signal,
  };
  const fields = await selectedFields(globals.fields, view);
  const appearance = await renderOptions(io, globals, settings);
  const printer = await createPrinter({ sink, view, fields, notify: notice, ...how, ...appearance });
  return {
    ...printer,
    get size() {
      return size;
    },
    take() {
      const taken = Buffer.concat(parts);
      parts = [];
      size = 0;
      return taken;
    },
  };
}
