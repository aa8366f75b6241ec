import type { Pending, PendingReason, User } from '../../contract/records/user.ts';
import type { SandboxClock } from '../clock.ts';
import type { World } from '../world/types.ts';

/** How long a live resolve waits for each live resolve ahead of it in the queue. */
const QUEUE_SLOT_MS = 1_500;
/** How long a call waits for a live resolve in progress before it gets `timeout`. */
const MAX_WAIT_MS = 10_000;

/** The result of a live resolve for one call. */
type ResolveResult = { readonly user: User } | { readonly pending: Pending };

/** The live resolves that are in progress. */
export interface LiveResolves {
  /**
   * Starts a live resolve for a user without a verified wallet, unless one is already in progress for this
   * user, or the plan of the user is `pending`. Returns a promise if the live resolve has left the queue;
   * otherwise, the body of a 202.
   */
  request(userId: string): ResolveResult | Promise<ResolveResult>;
  /**
   * The number of live resolves that were started. Calls that wait for a live resolve in progress do not
   * count.
   */
  readonly started: number;
  /** The number of calls that are waiting for a resolve. */
  readonly waiting: number;
  /** Cancels all live resolves, as a restart does. The waiting calls get `unavailable`. */
  cancelAll(): void;
}

interface RunningResolve {
  readonly startsAt: number;
  readonly done: Promise<ResolveResult>;
  readonly finish: (result: ResolveResult) => void;
  readonly cancel: () => void;
}

/** The body of a 202, with only the fields that exist for its reason. */
const pending = (reason: Exclude<PendingReason, 'queued'>): Pending => ({
  pending: true,
  reason,
  retryable: reason !== 'no_preview',
  ...(reason === 'rate_limited' ? { retryAfterSeconds: 5 } : {}),
});

const queued = (position: number, waitMs: number): Pending => ({
  pending: true,
  reason: 'queued',
  retryable: true,
  retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
  position,
});

export function createLiveResolves(users: World['users'], clock: SandboxClock): LiveResolves {
  const running = new Map<string, RunningResolve>();
  let started = 0;
  let waiting = 0;

  function start(userId: string, queue: number, ms: number): RunningResolve {
    started++;
    const startsAt = clock.now() + queue * QUEUE_SLOT_MS;
    let finish: RunningResolve['finish'] = () => {};
    const done = new Promise<ResolveResult>((resolve) => {
      finish = resolve;
    });
    const cancel = clock.at(startsAt + ms, () => {
      running.delete(userId);
      finish({ user: users.reveal(userId) });
    });
    const job = { startsAt, done, finish, cancel };
    running.set(userId, job);
    return job;
  }

  return {
    request(userId) {
      const plan = users.resolvePlan(userId);
      if (plan.outcome === 'pending') return { pending: pending(plan.reason) };
      const job = running.get(userId) ?? start(userId, plan.queue, plan.ms);
      const waitMs = job.startsAt - clock.now();
      if (waitMs > 0) return { pending: queued(Math.ceil(waitMs / QUEUE_SLOT_MS), waitMs) };
      waiting++;
      let cancel = () => {};
      const timeout = new Promise<ResolveResult>((resolve) => {
        cancel = clock.at(clock.now() + MAX_WAIT_MS, () => resolve({ pending: pending('timeout') }));
      });
      return Promise.race([job.done, timeout]).finally(() => {
        waiting--;
        cancel();
      });
    },
    get waiting() {
      return waiting;
    },
    get started() {
      return started;
    },
    cancelAll() {
      for (const job of running.values()) {
        job.cancel();
        job.finish({ pending: pending('unavailable') });
      }
      running.clear();
    },
  };
}
