import { normalHandle } from '../contract/handles.ts';
import { cu } from '../contract/prices.ts';
import { holdsWallet, type Pending, type PendingReason } from '../contract/records/user.ts';
import { type Handlers, reject } from './http/endpoint.ts';
import { shortageOf } from './keys.ts';

/** How long a live resolve waits for each live resolve ahead of it in the queue. */
const QUEUE_SLOT_MS = 1_500;
/** How long a call waits for a live resolve in progress before it gets `timeout`. */
const MAX_WAIT_MS = 10_000;
const hit = { cu: cu.reveal, reveals: 1 };

/** Describes what is wrong with a handle; null if it is valid. */
export function handleProblem(text: string): string | null {
  if (normalHandle(text) === '') return 'handle: must not be empty.';
  return /[\s\p{Cc}]/u.test(text) ? 'handle: must not contain white space or control characters.' : null;
}

/**
 * Returns the user of a handle. If the user has no verified wallet, first searches for one, and returns a 202
 * if the search has no result yet. Every key that cannot pay for a found wallet is rejected.
 */
export const resolveHandler: Handlers['user.resolve'] = async (sandbox, { params: { handle } }, key) => {
  const { world, clock, counts, resolves } = sandbox;
  const problem = handleProblem(handle);
  if (problem) return reject('VALIDATION_ERROR', problem);
  const shortage = shortageOf(key, hit, clock.now());
  if (shortage) return reject(shortage);
  const user = world.user(normalHandle(handle));
  if (!user) return reject('NOT_OBSERVED');
  if (key.isFree && !world.isSample(user.id)) return reject('FORBIDDEN');
  const found = (source: 'cached' | 'live') => ({
    status: 200 as const,
    record: user,
    headers: { 'x-service-resolve': source },
  });
  if (holdsWallet(user)) return found('cached');

  let running = resolves.get(user.id);
  if (!running) {
    const plan = world.resolvePlan(user.id);
    if (plan.outcome === 'pending') return pending(plan.reason);
    counts.resolvesStarted++;
    const startsAt = clock.now() + plan.queue * QUEUE_SLOT_MS;
    const started = { startsAt, doneAt: startsAt + plan.ms };
    running = started;
    resolves.set(user.id, started);
    clock.at(started.doneAt, () => {
      // A restart cancels live resolves.
      if (resolves.get(user.id) !== started) return;
      resolves.delete(user.id);
      world.reveal(user.id);
    });
  }
  const { startsAt, doneAt } = running;
  if (startsAt > clock.now()) return queued(startsAt - clock.now());
  // Reserve the price of a found wallet, so that other calls of the key cannot spend it during the search.
  key.reserved.cu += hit.cu;
  key.reserved.reveals += hit.reveals;
  counts.resolvesWaiting++;
  await new Promise<void>((wake) => clock.at(Math.min(doneAt, clock.now() + MAX_WAIT_MS), wake));
  counts.resolvesWaiting--;
  key.reserved.cu -= hit.cu;
  key.reserved.reveals -= hit.reveals;
  if (holdsWallet(user)) return found('live');
  return pending(doneAt > clock.now() ? 'timeout' : 'unavailable');
};

const answer202 = (record: Pending) => ({ status: 202 as const, record });

/** A 202 with only the fields that exist for its reason. */
const pending = (reason: Exclude<PendingReason, 'queued'>) =>
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
