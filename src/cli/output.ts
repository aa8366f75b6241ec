import { usageError } from '../base/failure.ts';
import type { PrinterOptions } from '../output/format/printing.ts';
import type { Sink } from '../output/sink.ts';
import type { View } from '../output/view.ts';
import type { Globals, OutputFormat } from './args/common.ts';
import type { AnyCommand } from './command.ts';
import type { Io } from './io.ts';
import type { RunSettings } from './settings/settings.ts';

const endings: Readonly<Record<string, OutputFormat>> = {
  csv: 'csv',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  json: 'json',
};

/** The format of a run: the flag, the file's ending, the setting, and last what stdout is. */
export function formatOf(
  globals: Pick<Globals, 'json' | 'output' | 'out'>,
  setting: OutputFormat | undefined,
  isTerminal: boolean,
  command: Pick<AnyCommand, 'path' | 'stream'>,
): OutputFormat {
  const { json, output, out } = globals;
  if (json && output !== undefined && output !== 'json') {
    throw usageError(`--json and -o ${output} say two things`, 'give one of them');
  }
  const ending = out === undefined ? undefined : endings[/\.([a-z]+)$/i.exec(out)?.[1]?.toLowerCase() ?? ''];
  const asked = output ?? (json ? 'json' : ending);
  if (command.stream && asked === 'json') {
    throw usageError(
      `"trdr ${command.path}" is a stream: it has no end to close a JSON document`,
      'use -o ndjson',
    );
  }
  // A setting is a wish for commands that can; a stream has no JSON document, a file no terminal.
  const wished = command.stream && setting === 'json' ? 'ndjson' : setting;
  if (out !== undefined) return asked ?? (wished === 'table' ? 'ndjson' : (wished ?? 'ndjson'));
  return asked ?? wished ?? (isTerminal ? 'table' : 'ndjson');
}

/** The fields asked for, checked against what the record has, before anything is asked of the service. */
export async function selectedFields(
  text: string | undefined,
  view: Pick<View<unknown>, 'fields'>,
): Promise<readonly string[] | undefined> {
  if (text === undefined) return undefined;
  const { parseFields } = await import('../output/format/fields.ts');
  return parseFields(text, view.fields);
}

/** Cells of the terminal's width. A terminal of size 0x0, as some containers and CI systems have, does not know it. */
export const widthOf = ({ stdout, env }: Pick<Io, 'stdout' | 'env'>): number =>
  stdout.columns || Number(env['COLUMNS']) || 80;

/** How a terminal wants its output. */
export async function renderOptions(
  io: Io,
  globals: Pick<Globals, 'color' | 'out'>,
  settings: Pick<RunSettings, 'color' | 'utc'>,
) {
  const { wantsColor, wantsUnicode } = await import('../output/terminal/style.ts');
  const terminal = io.stdout.isTTY === true && globals.out === undefined;
  return {
    terminal,
    width: widthOf(io),
    color: wantsColor(globals.color, io.env, terminal, settings.color),
    unicode: wantsUnicode(io.env, io.platform),
    utc: settings.utc,
    timeZone: io.env['TZ'] || undefined,
    now: io.clock.now,
  } satisfies Partial<PrinterOptions<unknown>>;
}

/** Where the records go: stdout, or a file that appears whole or not at all; a stream's file grows. */
export async function openSink(io: Io, out: string | undefined, live: boolean): Promise<Sink> {
  if (out !== undefined) {
    const { appendSink, fileSink } = await import('../output/file.ts');
    return live ? appendSink(out, { live }) : fileSink(out);
  }
  const { createSink } = await import('../output/sink.ts');
  return createSink(io.stdout, { live, name: 'stdout' });
}
