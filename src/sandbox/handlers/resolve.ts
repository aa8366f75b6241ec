import { cu } from '../../contract/prices.ts';
import { holdsWallet, type User } from '../../contract/records/user.ts';
import { type Caller, reject } from '../server/http/endpoint-handler.ts';
import type { HandlerContext } from './context.ts';

const hit = { cu: cu.reveal, reveals: 1 };

/**
 * Returns the user of a handle. If the user has no verified wallet, first searches for one, and returns a 202
 * if the search has no result yet. Every key that cannot pay for a found wallet is rejected.
 */
export function resolveHandle({ world, resolves }: HandlerContext, handle: string, { key }: Caller) {
  const shortage = key.meter.shortage(hit);
  if (shortage) return reject(shortage);
  const user = world.users.byHandle(handle);
  if (!user) return reject('NOT_OBSERVED');
  if (key.terms.sampleOnly && !world.users.isSample(user.id)) return reject('FORBIDDEN');
  if (holdsWallet(user)) return found(user, 'cached');

  const resolved = resolves.request(user.id);
  if (!(resolved instanceof Promise)) return response(resolved);
  // Reserve the price of a found wallet, so that other calls of the key cannot spend these units during the
  // search.
  const release = key.meter.reserve(hit);
  return resolved.then((result) => ({ ...response(result), release }));

  function response(result: Awaited<typeof resolved>) {
    return 'user' in result
      ? found(result.user, 'live')
      : { ok: true as const, answer: { status: 202 as const, record: result.pending } };
  }
}

const found = (user: User, source: 'cached' | 'live') => ({
  ok: true as const,
  answer: { status: 200 as const, record: user },
  headers: { 'x-service-resolve': source },
});
