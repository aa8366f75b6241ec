import { countText } from '../../base/units.ts';
import { BATCH_MAX, cu } from '../../contract/limits.ts';
import type { Subject } from '../lookup/subject.ts';
import type { Planned } from '../spend/plan.ts';
import type { Targets } from './targets.ts';

export const handlesText = (count: number): string => countText(count, 'handle');

/** The calls for the numbers of these subjects. */
export function* numbersCalls(
  targets: Pick<Targets, 'subjects' | 'handleOf'>,
  subjects: readonly Subject[],
): Generator<Planned, void, void> {
  for (let from = 0; from < subjects.length; from += BATCH_MAX) {
    const batch = subjects.slice(from, from + BATCH_MAX);
    // A wallet replaces its unknown handle, which does not affect the price. Without a user, it
    // costs nothing.
    const handles = batch.map((subject) => targets.handleOf(subject) ?? subject.value);
    const sure = batch.filter((subject) => targets.handleOf(subject) !== undefined);
    const least = cu.miss * sure.length;
    const [handle = ''] = handles;
    yield targets.subjects.length === 1
      ? { id: 'user.pnl', ask: { params: { handle } }, least }
      : { id: 'users.pnl', ask: { body: { handles } }, least };
  }
}
