import { Failure, usageError } from '../../base/failure.ts';
import { textOf } from '../../base/json-object.ts';
import { normalHandle } from '../../contract/handles.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { handlesText } from '../../core/pnl/planned-calls.ts';
import { readExport } from '../../input/earlier/pnl-export.ts';
import type { ExportIdentity } from '../../state/export-journal/open-journal.ts';
import { isFinished } from '../run/destination.ts';
import type { Terminal } from '../run/terminal.ts';

/**
 * The journal of an export of numbers knows a subject by its row, and the list by the texts of
 * all.
 */
export const identityOf = (subjects: readonly Subject[]): ExportIdentity => ({
  texts: subjects.map(({ text }) => text),
  size: subjects.length,
  noun: 'the handles',
});

/**
 * Throws at a file that lacks handles or cannot be read, because replacing it by mistake would lose
 * paid answers.
 */
export async function reportFinished(
  { io, notice }: Pick<Terminal, 'io' | 'notice'>,
  out: string,
  subjects: readonly Subject[],
): Promise<boolean> {
  if (!isFinished(out)) return false;
  const startOver = 'add --fresh to start over and replace it, or use a different file';
  const names = new Set<string>();
  try {
    for await (const record of readExport(out, io)) {
      names.add(normalHandle(record.subject));
      if (record.found === true) names.add(normalHandle(textOf(record['handle']) ?? ''));
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw usageError(
      `${out} is not an interrupted export, and its handles cannot be read`,
      startOver,
    );
  }
  const lacking = subjects.filter(
    ({ text, value }) => !names.has(normalHandle(text)) && !names.has(normalHandle(value)),
  ).length;
  if (lacking > 0) {
    throw usageError(
      `${out} is finished, but does not contain ${handlesText(lacking)} of this run`,
      startOver,
    );
  }
  notice(
    `${out} is finished: it contains all ${handlesText(subjects.length)}; nothing was requested (--fresh starts over)`,
  );
  return true;
}
