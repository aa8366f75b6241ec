import { Failure } from '../../base/failure.ts';
import { group } from '../../base/units.ts';
import { safeLine } from '../../output/terminal/safe-text.ts';
import type { Context } from '../context.ts';

/** Maximum number of names in a notice. */
const NAMED = 1_000;
/** The same on a terminal, or if a journal names all of them. */
const NAMED_IN_SHORT = 20;

/** Failures that exit 6: an allowance or a limit is exhausted, and everything paid for was delivered. */
export const isSpent = (error: unknown): error is Failure =>
  error instanceof Failure && (error.kind === 'quota' || error.kind === 'limit');

/**
 * Reports the names that were not requested; `count` is their number in words. If there is a journal, it
 * names all of them.
 */
export function reportSkipped(
  { io, notice }: Pick<Context, 'io' | 'notice'>,
  names: readonly string[],
  count: string,
  journal?: string,
): void {
  if (names.length === 0) return;
  const most = journal === undefined && io.stderr.isTTY !== true ? NAMED : NAMED_IN_SHORT;
  const rest = names.length - most;
  const more =
    rest <= 0 ? '' : ` and ${group(rest)} more${journal === undefined ? '' : `, all named in ${journal}`}`;
  notice(`skipped ${count}: ${safeLine(names.slice(0, most).join(' '))}${more}`);
}
