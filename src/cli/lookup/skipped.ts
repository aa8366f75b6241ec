import { Failure } from '../../base/failure.ts';
import { group } from '../../base/units.ts';
import { safeLine } from '../../output/terminal/safe-text.ts';
import type { Context } from '../context.ts';

/** More names than this on one screen help nobody. */
const NAMED = 1_000;
const NAMED_BESIDE_JOURNAL = 20;

/** A failure of an allowance or a limit: everything that was paid for has been delivered. */
export const isSpent = (error: unknown): error is Failure =>
  error instanceof Failure && (error.kind === 'quota' || error.kind === 'limit');

/** Names what was not requested, `count` in words; a journal, where there is one, names them all. */
export function reportSkipped(
  { notice }: Pick<Context, 'notice'>,
  names: readonly string[],
  count: string,
  journal?: string,
): void {
  if (names.length === 0) return;
  const most = journal === undefined ? NAMED : NAMED_BESIDE_JOURNAL;
  const rest = names.length - most;
  const more =
    rest <= 0 ? '' : ` and ${group(rest)} more${journal === undefined ? '' : `, all named in ${journal}`}`;
  notice(`skipped ${count}: ${safeLine(names.slice(0, most).join(' '))}${more}`);
}
