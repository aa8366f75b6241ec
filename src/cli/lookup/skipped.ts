import { Failure } from '../../base/failure.ts';
import { namesText } from '../../output/notices.ts';
import type { Context } from '../context.ts';

const NAMED = 1_000;
/** The maximum number of names in a notice that is printed on a terminal, or whose names are all in a journal. */
const NAMED_IN_SHORT = 20;

/** Whether a failure means that an allowance or a limit is used up (exit code 6). */
export const isSpent = (error: unknown): error is Failure =>
  error instanceof Failure && (error.kind === 'quota' || error.kind === 'limit');

/** `journal` is the path of a journal that contains all names: the notice then lists fewer. */
export function reportSkipped(
  { io, notice }: Pick<Context, 'io' | 'notice'>,
  names: readonly string[],
  count: string,
  journal?: string,
): void {
  if (names.length === 0) return;
  const most = journal === undefined && io.stderr.isTTY !== true ? NAMED : NAMED_IN_SHORT;
  const where = journal === undefined || names.length <= most ? '' : `; all names are in ${journal}`;
  notice(`skipped ${count}: ${namesText(names, most)}${where}`);
}
