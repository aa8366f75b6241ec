import { createPrinter } from '../../src/output/format/printer.ts';
import type { PrinterOptions } from '../../src/output/format/printing.ts';
import { createSink } from '../../src/output/sink.ts';
import type { View } from '../../src/output/view.ts';

export type Row = Readonly<Record<string, unknown>>;

/** A view that only has fields. */
export const fieldsView = (...fields: readonly string[]): View<Row> => ({
  columns: [],
  fields: () => fields,
  empty: '',
});

export const look = { utc: false, unicode: true, now: Date.now, size: () => ({ width: 80 }) };

/** Prints records, and returns the text and the notices. */
export async function print(
  records: readonly Row[],
  options: Partial<PrinterOptions<Row>> & Pick<PrinterOptions<Row>, 'view' | 'format'>,
) {
  const parts: Buffer[] = [];
  const said: string[] = [];
  const sink = createSink((bytes) => void parts.push(Buffer.from(bytes)));
  const printer = await createPrinter<Row>({
    ...look,
    sink,
    notify: (text) => said.push(text),
    ...options,
  });
  for (const record of records) await printer.write(record);
  await printer.end();
  return { text: Buffer.concat(parts).toString(), said };
}
