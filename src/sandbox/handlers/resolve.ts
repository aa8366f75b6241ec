import { normalHandle } from '../../contract/handles.ts';
import { cu } from '../../contract/prices.ts';
import { holdsWallet, type Pending, type PendingReason, type User } from '../../contract/records/user.ts';
import { type Handlers, reject } from '../http/endpoint.ts';
import { reserve, shortageOf } from '../keys/key.ts';
import type { RunningResolve, SandboxState } from '../state.ts';
import { handleProblem } from './identity.ts';

/** How long a live resolve waits for each live resolve ahead of it in the queue. */
const QUEUE_SLOT_MS = 1_500;
/** How long a call waits for a live resolve in progress before it gets `timeout`. */
const MAX_WAIT_MS = 10_000;
const hit = { cu: cu.reveal, reveals: 1 };

/**
 * Returns the user of a handle. If the user has no verified wallet, first searches for one, and returns a 202
 * if the search has no result yet. Every key that cannot pay for a found wallet is rejected.
 */
export const resolveHandler: Handlers['user.resolve'] = async (sandbox, { params: { handle } }, key) => {
  const { world, clock, counts } = sandbox;
  const problem = handleProblem(handle);
  if (problem) return reject('VALIDATION_ERROR', problem);
  const shortage = shortageOf(key, hit, clock.now());
  if (shortage) return reject(shortage);
  const user = world.users.byHandle(normalHandle(handle));
  if (!user) return reject('NOT_OBSERVED');
  if (key.terms.sampleOnly && !world.users.isSample(user.id)) return reject('FORBIDDEN');
  if (holdsWallet(user)) return found(user, 'cached');

  const running = sandbox.resolves.get(user.id) ?? startResolve(sandbox, user.id);
  if (typeof running === 'string') return pending(running);
  const waitMs = running.startsAt - clock.now();
  if (waitMs > 0) return queued(waitMs);
  // Reserve the price of a found wallet, so that other calls of the key cannot spend these units during the
  // search.
  const release = reserve(key, hit);
  counts.resolvesWaiting++;
  let cancel = () => {};
  const timeout = new Promise<'timeout'>((resolve) => {
    cancel = clock.at(clock.now() + MAX_WAIT_MS, () => resolve('timeout'));
  });
  const result = await Promise.race([running.done, timeout]);
  counts.resolvesWaiting--;
  cancel();
  if (result === 'timeout') return { ...pending('timeout'), release };
  return { ...(result ? found(result, 'live') : pending('unavailable')), release };
};

/** Starts a live resolve; returns the reason instead if the plan of the user is `pending`. */
function startResolve(sandbox: SandboxState, userId: string): RunningResolve | WithoutPosition {
  const { world, clock, resolves, counts } = sandbox;
  const plan = world.users.resolvePlan(userId);
  if (plan.outcome === 'pending') return plan.reason;
  counts.resolvesStarted++;
  const startsAt = clock.now() + plan.queue * QUEUE_SLOT_MS;
  let cancel = () => {};
  const done = new Promise<User | undefined>((resolve) => {
    const off = clock.at(startsAt + plan.ms, () => {
      resolves.delete(userId);
      resolve(world.users.reveal(userId));
    });
    cancel = () => {
      off();
      resolve(undefined);
    };
  });
  const running = { startsAt, done, cancel };
  resolves.set(userId, running);
  return running;
}

type WithoutPosition = Exclude<PendingReason, 'queued'>;

const found = (record: User, source: 'cached' | 'live') => ({
  status: 200 as const,
  record,
  headers: { 'x-service-resolve': source },
});

const answer202 = (record: Pending) => ({ status: 202 as const, record });

/** A 202 with only the fields that exist for its reason. */
const pending = (reason: WithoutPosition) =>
  answer202({
    pending: true,
    reason,
    retryable: reason !== 'no_preview',
    ...(reason === 'rate_limited' && { retryAfterSeconds: 5 }),
  });

const queued = (waitMs: number) =>
  answer202({
    pending: true,
    reason: 'queued',
    retryable: true,
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
    position: Math.ceil(waitMs / QUEUE_SLOT_MS),
  });
