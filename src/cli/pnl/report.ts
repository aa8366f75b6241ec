import { unitsText } from '../../base/units.ts';
import type { LostBatch } from '../../core/pnl/pnl-run.ts';
import { safeLine } from '../../output/terminal/safe-text.ts';
import type { Context } from '../context.ts';
import { handlesText } from '../spend/approve-pnl.ts';

const NAMED = 20;

/** Reports lost answers and what they may have cost. */
export function reportLost(context: Context, lost: readonly LostBatch[], subjects: readonly string[]): void {
  for (const { positions, cuAtMost } of lost) {
    const names = positions.slice(0, NAMED).map((position) => subjects[position] ?? '');
    const more = positions.length > names.length ? ` and ${positions.length - names.length} more` : '';
    context.notice(
      `lost the answers for ${handlesText(positions.length)} (up to ${unitsText(cuAtMost)}): ${safeLine(names.join(' '))}${more}`,
    );
  }
}
