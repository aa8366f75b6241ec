import { Failure } from '../../base/failure.ts';
import type { LostBatch } from '../../core/pnl/pnl-run.ts';
import { safeLine } from '../../output/terminal/safe-text.ts';
import type { Context } from '../context.ts';
import { handlesText } from '../spend/approve-pnl.ts';
import { unitsText } from '../spend/estimate.ts';

/** More names than this on one screen help nobody. */
const NAMED = 1_000;
const NAMED_BESIDE_JOURNAL = 20;

/** Says which handles were not asked about; a journal, where there is one, names them all. */
export function reportSkipped(context: Context, handles: readonly string[], journal?: string): void {
  if (handles.length === 0) return;
  const most = journal === undefined ? NAMED : NAMED_BESIDE_JOURNAL;
  const rest = handles.length - most;
  const more =
    rest <= 0 ? '' : ` and ${rest} more${journal === undefined ? '' : `, all named in ${journal}`}`;
  context.notice(
    `not asked, ${handlesText(handles.length)}: ${safeLine(handles.slice(0, most).join(' '))}${more}`,
  );
}

/** Says which answers were lost on the way, and what they may have cost. */
export function reportLost(context: Context, lost: readonly LostBatch[], subjects: readonly string[]): void {
  for (const { positions, cuAtMost } of lost) {
    const names = positions.slice(0, NAMED_BESIDE_JOURNAL).map((position) => subjects[position] ?? '');
    const more = positions.length > names.length ? ` and ${positions.length - names.length} more` : '';
    context.notice(
      `lost on the way, ${handlesText(positions.length)}, up to ${unitsText(cuAtMost)}: ${safeLine(names.join(' '))}${more}`,
    );
  }
}

/** What ends in 6: a meter or a ceiling, with everything that was paid for delivered. */
export const isSpent = (error: unknown): error is Failure =>
  error instanceof Failure && (error.kind === 'quota' || error.kind === 'limit');
