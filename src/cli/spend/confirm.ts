import { safeLine } from '../../output/terminal/safe-text.ts';
import type { Io } from '../io.ts';
import { askLine, isAttended } from '../prompt.ts';

/** Asks a yes-or-no question on the terminal; undefined if the run is not interactive. */
export async function confirm(io: Io, question: string, signal: AbortSignal): Promise<boolean | undefined> {
  if (!isAttended(io)) return undefined;
  return /^\s*y(es)?\s*$/i.test((await askLine(io, `${safeLine(question)} [y/N] `, { signal })) ?? '');
}
