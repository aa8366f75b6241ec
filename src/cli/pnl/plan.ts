import { countText } from '../../base/units.ts';
import { bareHandle } from '../../contract/handles.ts';
import { BATCH_MAX, cu } from '../../contract/limits.ts';
import type { Allowance } from '../../core/pnl/allowance.ts';
import type { Targets } from '../../core/pnl/targets.ts';
import { warnOfShortage } from '../run/approve.ts';
import type { Context } from '../run/context.ts';
import type { Plan, Planned } from '../run/plan.ts';

export const handlesText = (count: number): string => countText(count, 'handle');

/** The calls for the numbers of these positions. */
export function* numbersCalls(
  { texts, handleAt }: Targets,
  positions: readonly number[],
): Generator<Planned, void, void> {
  for (let from = 0; from < positions.length; from += BATCH_MAX) {
    const batch = positions.slice(from, from + BATCH_MAX);
    // A wallet replaces its unknown handle, which does not affect the price. Without a user, it costs nothing.
    const handles = batch.map((at) => bareHandle(handleAt(at) ?? texts[at] ?? ''));
    const least = cu.miss * batch.filter((at) => handleAt(at) !== undefined).length;
    const [handle = ''] = handles;
    yield texts.length === 1
      ? { id: 'user.pnl', ask: { params: { handle } }, least }
      : { id: 'users.pnl', ask: { body: { handles } }, least };
  }
}

/** The run requests only as many handles as the units and reveals that are left cover, so a shortage is not a failure. */
export function numbersPlan(
  context: Context,
  calls: readonly Planned[],
  count: number,
  allowance: Allowance | undefined,
): Plan {
  return {
    calls,
    costs: (cost) => `This will cost ${cost} for ${handlesText(count)}`,
    async check({ least, most }) {
      if (!allowance) return;
      const left = await allowance.refresh(context.terminal.signal);
      warnOfShortage(context, 'the run', { least, most, reveals: count }, left);
    },
  };
}
