import { unitsText } from '../../base/units.ts';
import type { LostBatch } from '../../core/pnl/pnl-run.ts';
import { namesText } from '../../output/terminal/names-text.ts';
import type { Context } from '../context.ts';
import { handlesText } from '../spend/preflight.ts';

const NAMED = 20;

/** Reports lost answers and what they may have cost. */
export function reportLost(context: Context, lost: readonly LostBatch[], subjects: readonly string[]): void {
  for (const { positions, cuAtMost } of lost) {
    const names = positions.map((position) => subjects[position] ?? '');
    const cost = `which may have cost up to ${unitsText(cuAtMost)}`;
    context.notice(`lost the answers for ${handlesText(names.length)} (${cost}): ${namesText(names, NAMED)}`);
  }
}
