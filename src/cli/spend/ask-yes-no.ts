import { safeLine } from '../../output/terminal/safe-text.ts';
import { askLine, canAsk, type PromptIo } from '../output/prompt.ts';

/** Asks a yes-or-no question on the terminal; undefined if the run is not interactive. */
export async function confirm(
  io: PromptIo,
  question: string,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  if (!canAsk(io)) return undefined;
  return /^\s*y(es)?\s*$/i.test((await askLine(io, `${safeLine(question)} [y/N]`, { signal })) ?? '');
}
