import { statSync } from 'node:fs';
import { Failure, usageError } from '../../base/failure.ts';
import { realPath } from '../../base/files.ts';
import { textOf } from '../../base/json-object.ts';
import { normalHandle } from '../../contract/endpoints.ts';
import type { Context } from '../context.ts';
import { handlesText } from '../spend/approve-pnl.ts';
import { readExport } from './from/read-export.ts';

/** Whether an export to this file was interrupted: the journal is beside the file that a link leads to. */
export const hasJournal = (out: string): boolean =>
  statSync(`${realPath(out)}.journal`, { throwIfNoEntry: false }) !== undefined;

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/**
 * Whether an export to this file is already finished: the file exists without a journal and has all of
 * these handles. A finished file of other handles is rejected, because replacing it would cost as much as
 * it did.
 */
export async function isFinished(
  context: Context,
  out: string,
  subjects: readonly string[],
): Promise<boolean> {
  if (!isFile(out) || hasJournal(out)) return false;
  const startOver = 'add --fresh to start over and replace it, or name another file';
  const there = new Set<string>();
  try {
    for await (const record of readExport(out, context.io)) {
      there.add(normalHandle(record.subject));
      if (record.found === true) there.add(normalHandle(textOf(record['handle']) ?? ''));
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw usageError(`${out} is not an interrupted export, and its handles cannot be read`, startOver);
  }
  const lacking = subjects.filter((subject) => !there.has(normalHandle(subject))).length;
  if (lacking > 0) {
    throw usageError(`${out} is finished, but does not have ${handlesText(lacking)} of these`, startOver);
  }
  context.notice(
    `${out} is finished: it has all ${handlesText(subjects.length)}; nothing was requested (--fresh starts over)`,
  );
  return true;
}
