import { countText } from '../../base/units.ts';
import { BATCH_MAX, cu } from '../../contract/limits.ts';
import type { Planned } from '../spend/plan.ts';
import type { Handles } from './handles.ts';

export const handlesText = (count: number): string => countText(count, 'handle');

/** The calls for the numbers of these rows. */
export function* numbersCalls(
  handles: Pick<Handles, 'subjects' | 'handleOf' | 'nameOf'>,
  rows: readonly number[],
): Generator<Planned, void, void> {
  for (let from = 0; from < rows.length; from += BATCH_MAX) {
    const batch = rows.slice(from, from + BATCH_MAX);
    const names = batch.map((row) => handles.nameOf(row));
    // Without a user, a wallet costs nothing here.
    const sure = batch.filter((row) => handles.handleOf(row) !== undefined);
    const least = cu.miss * sure.length;
    const [handle = ''] = names;
    const standsFor = sure.length < batch.length ? 'the handles that are looked up' : undefined;
    yield handles.subjects.length === 1
      ? { id: 'user.pnl', ask: { params: { handle } }, least, standsFor }
      : { id: 'users.pnl', ask: { body: { handles: names } }, least, standsFor };
  }
}
