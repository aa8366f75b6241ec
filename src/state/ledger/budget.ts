import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { inWords } from '../../base/files.ts';
import { withLock } from '../../base/lock.ts';
import type { Period } from '../../base/periods.ts';
import { type BudgetState, budgetRefusal, leftIn } from '../../contract/budget.ts';
import { monthFile, monthOf } from './lines.ts';
import { createTally } from './tally.ts';

/** The budgets of a profile in CU; undefined means no limit. */
export type Caps = { readonly [P in Period]: number | undefined };

/** How long to wait for calls in flight whose actual cost may leave enough of a budget. */
const IN_FLIGHT_WAIT_MS = 60_000;
const LOOK_MS = 50;
const QUIET_MS = 2_000;
const periods = ['day', 'month'] as const;

/** What a budget has left; negative if the budget was set below the amount already used. */
const room = ({ limit, spent, lost, reserved }: BudgetState) => limit - spent - lost - reserved;

/** The budgets of a profile. They apply to all processes of this machine, which share the ledger. */
export type Budget = ReturnType<typeof createBudget>;

/** Opens the budgets of a profile. `dir` is the state folder; undefined if there is none. */
export function createBudget({
  dir,
  profile,
  clock,
  notice,
}: {
  readonly dir: string | undefined;
  readonly profile: string;
  readonly clock: Pick<Clock, 'now' | 'mono' | 'sleep'>;
  readonly notice?: ((text: string) => void) | undefined;
}) {
  const tally = createTally(profile);
  let queue: Promise<unknown> = Promise.resolve();

  /**
   * Runs `work` with up-to-date sums while holding the lock of the ledger file, so that no other process
   * admits a call at the same time.
   */
  async function exclusively<T>(work: (now: number) => T, signal?: AbortSignal): Promise<T> {
    if (dir === undefined) throw unchecked();
    const now = clock.now();
    const path = monthFile(dir, monthOf(now));
    try {
      // A compaction holds the same lock, because lines that are appended while it replaces the file are missing
      // from the new file for a moment.
      return await withLock(
        `${path}.lock`,
        () => {
          tally.refresh(path);
          return work(now);
        },
        { signal, sleep: clock.sleep },
      );
    } catch (error) {
      throw inWords('check the budget in', path, error);
    }
  }

  const statesAt = (caps: Caps, now: number): (BudgetState & { readonly settling: number })[] =>
    periods.flatMap((period) => {
      const limit = caps[period];
      return limit === undefined
        ? []
        : [{ period, scope: 'profile' as const, name: profile, limit, ...tally.sum(period, now) }];
    });

  async function admitted(
    caps: Caps,
    most: number | undefined,
    write: () => void,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const began = clock.mono();
    const wanted = most ?? Number.POSITIVE_INFINITY;
    for (let isReported = false; ; ) {
      const waiting = await exclusively((now) => {
        const states = statesAt(caps, now);
        const short = states.filter((state) => room(state) < wanted);
        if (short.length === 0) {
          write();
          return false;
        }
        // Reject at once if the budget could not cover the call even if all requests in flight turned out to
        // be free. Open WebSockets do not count as requests, because their cost is not known soon.
        const final = short.find((state) => room(state) + state.settling < wanted);
        const late = clock.mono() - began > IN_FLIGHT_WAIT_MS;
        const refused = final ?? (late ? short[0] : undefined);
        if (refused) throw budgetRefusal({ ...refused, left: leftIn(refused) }, most, now);
        return true;
      }, signal);
      if (!waiting) return;
      // Wait, because calls in flight may cost less than was reserved for them.
      if (!isReported && clock.mono() - began > QUIET_MS) {
        isReported = true;
        notice?.(
          'the rest of the budget is reserved for calls in flight; waiting, because these calls may cost less',
        );
      }
      await clock.sleep(LOOK_MS, signal);
    }
  }

  return {
    /**
     * Calls `write` as soon as the budgets have at least `most` CU left; rejects with a `limit` Failure if they do
     * not. Before that, waits up to a minute if calls in flight may turn out to cost less than was reserved. Holds a
     * lock, so that concurrent processes cannot exceed a budget together. If `most` is undefined, the cost of the call
     * is not known, and any budget rejects it.
     */
    admit(caps: Caps, most: number | undefined, write: () => void, signal?: AbortSignal): Promise<void> {
      // Admit one call at a time, because calls of the same process would only compete for the lock.
      const turn = queue.then(() => admitted(caps, most, write, signal));
      queue = turn.catch(() => {});
      return turn;
    },
    states: (caps: Caps): Promise<BudgetState[]> =>
      exclusively((now) => statesAt(caps, now).map(({ settling: _, ...state }) => state)),
    /** What the profile has spent; also available for profiles without a budget. */
    spending: () => exclusively((now) => ({ day: tally.sum('day', now), month: tally.sum('month', now) })),
  };
}

const unchecked = () =>
  new Failure('local', 'cannot check the budget: no home directory for the state folder', {
    code: 'NO_STATE',
    hint: 'set TRDR_STATE_DIR to a folder that you own',
  });
