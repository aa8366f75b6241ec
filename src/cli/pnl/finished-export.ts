import { Failure, usageError } from '../../base/failure.ts';
import { realPath, statsOf } from '../../base/files.ts';
import { textOf } from '../../base/json-object.ts';
import { normalHandle } from '../../contract/handles.ts';
import type { Context } from '../context.ts';
import { confirm } from '../output/prompt.ts';
import { handlesText } from '../spend/preflight.ts';
import { readExport } from './from/read-export.ts';

/** The journal is next to the real file, even if the path is a symbolic link. */
export const hasJournal = (out: string): boolean => statsOf(`${realPath(out)}.journal`) !== undefined;

const isFile = (path: string) => statsOf(path)?.isFile() === true;

/** Throws at a file that lacks handles or cannot be read, because replacing it by mistake would lose paid answers. */
export async function isFinished(
  context: Context,
  out: string,
  subjects: readonly string[],
): Promise<boolean> {
  if (!isFile(out) || hasJournal(out)) return false;
  const startOver = 'add --fresh to start over and replace it, or use a different file';
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
    throw usageError(
      `${out} is finished, but does not contain ${handlesText(lacking)} of this run`,
      startOver,
    );
  }
  context.notice(
    `${out} is finished: it contains all ${handlesText(subjects.length)}; nothing was requested (--fresh starts over)`,
  );
  return true;
}

/** Asks before a run without --resume and --fresh replaces a file, which may contain paid answers. */
export async function confirmReplacement(
  { io, signal }: Pick<Context, 'io' | 'signal'>,
  out: string,
): Promise<void> {
  const found = statsOf(out);
  if (!found?.isFile() || found.size === 0 || hasJournal(out)) return;
  const answer = await confirm(io, `${out} already exists. Replace it?`, signal);
  if (answer) return;
  throw new Failure(
    'confirm',
    answer === undefined ? `${out} already exists` : `cancelled; ${out} was not changed`,
    {
      code: answer === undefined ? 'CONFIRMATION_NEEDED' : 'NOT_CONFIRMED',
      hint: 'add --fresh to replace it, --resume to keep it if it is finished, or use a different file',
    },
  );
}
