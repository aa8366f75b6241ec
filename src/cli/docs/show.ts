import { createSink } from '../../output/sink.ts';
import { wantsColor } from '../../output/terminal/style.ts';
import type { Io } from '../io.ts';
import { colorMode } from '../report.ts';
import { layoutPage } from './layout.ts';
import type { DocPage } from './page.ts';

/** The width of help, in columns, if the width of the terminal is not known. */
const PLAIN_COLUMNS = 80;

/** Prints a help page to stdout, wrapped to the width of the terminal. */
export async function showPage(io: Io, page: DocPage): Promise<void> {
  const isTerminal = io.stdout.isTTY === true;
  const sink = createSink(io.stdout, { name: 'stdout' });
  await sink.write(
    layoutPage(page, {
      columns: (isTerminal && io.stdout.columns) || PLAIN_COLUMNS,
      bold: wantsColor(colorMode(io.argv), io.env, isTerminal),
    }),
  );
  await sink.finish('complete');
}
