import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { ensureFolder, inWords } from '../../base/files.ts';
import { withLock } from '../../base/lock.ts';
import type { Period } from '../../base/periods.ts';
import { type BudgetState, budgetRefusal, leftIn } from '../../contract/budget.ts';
import { ledgerFolder, monthFile, monthOf } from './months.ts';
import { createTally, type Spending } from './tally.ts';

/** Limits of a profile, in CU; undefined where there is none. */
export type Caps = { readonly [P in Period]: number | undefined };

export interface BudgetOptions {
  /** The state folder, if any. */
  readonly dir: string | undefined;
  readonly profile: string;
  readonly clock: Pick<Clock, 'now' | 'mono' | 'sleep'>;
  readonly notice?: ((text: string) => void) | undefined;
}

/** The budgets of a profile, checked against the ledger that all processes of this machine write. */
export interface Budget {
  /**
   * Calls `write` while the budgets have room for `most`, under the lock that other processes take for the same: so
   * none of them can pass a budget together. Rejects with a `limit` Failure where there is no room.
   */
  admit(caps: Caps, most: number | undefined, write: () => void, signal?: AbortSignal): Promise<void>;
  states(caps: Caps): Promise<BudgetState[]>;
  /** What was spent, whether there is a budget or not. */
  spending(): Promise<Readonly<Record<Period, Spending>>>;
}

/** How long calls in flight are waited for that a budget has no room beside, and how often it is looked at. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 50;
const QUIET_MS = 2_000;
const periods = ['day', 'month'] as const;

/** What is left, or how far a budget is exceeded that was lowered. */
const room = ({ limit, spent, lost, reserved }: BudgetState) => limit - spent - lost - reserved;

export function createBudget({ dir, profile, clock, notice }: BudgetOptions): Budget {
  const tally = createTally(profile);
  let queue: Promise<unknown> = Promise.resolve();

  /** Runs `work` with the sums up to date and nobody else adding to them. */
  async function exclusively<T>(work: (now: number) => T, signal?: AbortSignal): Promise<T> {
    if (dir === undefined) throw unchecked();
    const now = clock.now();
    const path = monthFile(dir, monthOf(now));
    try {
      ensureFolder(ledgerFolder(dir));
      // The lock of compaction too: while a file is replaced, some of its lines are in neither version.
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
        // A budget that calls in flight cannot change decides at once.
        const final = short.find((state) => room(state) + state.settling < wanted);
        const late = clock.mono() - began > PATIENCE_MS;
        const refused = final ?? (late ? short[0] : undefined);
        if (refused) throw budgetRefusal({ ...refused, left: leftIn(refused) }, most, now);
        return true;
      }, signal);
      if (!waiting) return;
      // Calls in flight may cost less than what is held for them.
      if (!isReported && clock.mono() - began > QUIET_MS) {
        isReported = true;
        notice?.('waiting for calls in flight, which the budget has to cover');
      }
      await clock.sleep(LOOK_MS, signal);
    }
  }

  return {
    admit(caps, most, write, signal) {
      // One after another: the calls of a process would only wait for each other's lock.
      const turn = queue.then(() => admitted(caps, most, write, signal));
      queue = turn.catch(() => {});
      return turn;
    },
    states: (caps) => exclusively((now) => statesAt(caps, now).map(({ settling: _, ...state }) => state)),
    spending: () => exclusively((now) => ({ day: tally.sum('day', now), month: tally.sum('month', now) })),
  };
}

const unchecked = () =>
  new Failure('local', 'cannot check the budget: no home directory for the state folder', {
    code: 'NO_STATE',
    hint: 'set TRDR_STATE_DIR to a folder of your own',
  });
