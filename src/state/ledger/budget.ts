import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { inWords } from '../../base/files.ts';
import { withLock } from '../../base/lock.ts';
import { type Period, periodsAt } from '../../base/periods.ts';
import { type BudgetState, budgetRefusal, leftIn } from '../../contract/budget.ts';
import { ledgerFolder } from './lines.ts';
import { createTally } from './tally.ts';

/** In CU; undefined means no limit. */
export type Caps = { readonly [P in Period]: number | undefined };

const periods = ['day', 'month'] as const;

/** Opens the budgets of a profile, which all processes of this machine share. `dir` is the state folder. */
export function createBudget(dir: string | undefined, profile: string, clock: Pick<Clock, 'now' | 'sleep'>) {
  const tally = createTally(profile);

  /** Holds a lock, so that no other process admits a call at the same time. */
  async function exclusively<T>(work: (now: number) => T, signal?: AbortSignal): Promise<T> {
    if (dir === undefined) throw unchecked();
    const now = clock.now();
    const folder = ledgerFolder(dir);
    try {
      return await withLock(
        join(folder, 'budget.lock'),
        () => {
          tally.refresh(dir, periodsAt(now).month);
          return work(now);
        },
        { signal, sleep: clock.sleep },
      );
    } catch (error) {
      throw inWords('check the budget in', folder, error);
    }
  }

  const statesAt = (caps: Caps, now: number): BudgetState[] =>
    periods.flatMap((period) => {
      const limit = caps[period];
      return limit === undefined
        ? []
        : [{ period, scope: 'profile' as const, name: profile, limit, ...tally.sum(period, now) }];
    });

  return {
    /** Calls `write` if the budgets cover `most`. If that is not known, any budget rejects the call. */
    admit: (caps: Caps, most: number | undefined, write: () => void, signal?: AbortSignal): Promise<void> =>
      exclusively((now) => {
        const refused = statesAt(caps, now).find(
          ({ limit, spent, lost, reserved }) => most === undefined || spent + lost + reserved + most > limit,
        );
        if (refused) throw budgetRefusal({ ...refused, left: leftIn(refused) }, most, now);
        write();
      }, signal),
    states: (caps: Caps): Promise<BudgetState[]> => exclusively((now) => statesAt(caps, now)),
    spending: () => exclusively((now) => ({ day: tally.sum('day', now), month: tally.sum('month', now) })),
  };
}

const unchecked = () =>
  new Failure('local', 'cannot check the budget: no home directory for the state folder', {
    code: 'NO_STATE',
    hint: 'set TRDR_STATE_DIR to a folder that you own',
  });
