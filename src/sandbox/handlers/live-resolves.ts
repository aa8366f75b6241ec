import type { Pending, PendingReason, User } from '../../contract/records/user.ts';
import type { SandboxClock } from '../clock.ts';
import type { World } from '../world/types.ts';

/** How long one place in the queue takes to move up. */
const PLACE_MS = 1_500;
/** How long a call is held open for a running resolve before it is told `timeout`. */
const PATIENCE_MS = 10_000;

/** What a live resolve comes to for the call that asked. */
type Resolved = { readonly user: User } | { readonly pending: Pending };

/** The live resolves under way. */
export interface Resolves {
  /** Starts a resolve for a user without a held wallet, or joins the one that runs. */
  ask(userId: string): Resolved | Promise<Resolved>;
  /** How many were ever started: a call that joins starts none. */
  readonly started: number;
  /** How many calls wait for one now. */
  readonly waiting: number;
  /** Forgets what runs, as a restart does; whoever waits is told `unavailable`. */
  forget(): void;
}

interface Running {
  readonly turnAt: number;
  readonly done: Promise<Resolved>;
  readonly end: (resolved: Resolved) => void;
  readonly cancel: () => void;
}

/** A 202 with exactly the fields that its reason has. */
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

export function createResolves(users: World['users'], clock: SandboxClock): Resolves {
  const running = new Map<string, Running>();
  let started = 0;
  let waiting = 0;

  function start(userId: string, queue: number, ms: number): Running {
    started++;
    const turnAt = clock.now() + queue * PLACE_MS;
    let end: Running['end'] = () => {};
    const done = new Promise<Resolved>((resolve) => {
      end = resolve;
    });
    const cancel = clock.at(turnAt + ms, () => {
      running.delete(userId);
      end({ user: users.reveal(userId) });
    });
    const job = { turnAt, done, end, cancel };
    running.set(userId, job);
    return job;
  }

  return {
    ask(userId) {
      const plan = users.resolvePlan(userId);
      if (plan.outcome === 'pending') return { pending: pending(plan.reason) };
      const job = running.get(userId) ?? start(userId, plan.queue, plan.ms);
      const waitMs = job.turnAt - clock.now();
      if (waitMs > 0) return { pending: queued(Math.ceil(waitMs / PLACE_MS), waitMs) };
      waiting++;
      let cancel = () => {};
      const tooLong = new Promise<Resolved>((resolve) => {
        cancel = clock.at(clock.now() + PATIENCE_MS, () => resolve({ pending: pending('timeout') }));
      });
      return Promise.race([job.done, tooLong]).finally(() => {
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
    forget() {
      for (const job of running.values()) {
        job.cancel();
        job.end({ pending: pending('unavailable') });
      }
      running.clear();
    },
  };
}
