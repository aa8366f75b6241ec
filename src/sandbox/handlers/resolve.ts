import { cu } from '../../contract/endpoints.ts';
import type { User } from '../../contract/records/user.ts';
import { holdsWallet } from '../../contract/records/user.ts';
import { type Call, refuse } from '../server/http/endpoint-handler.ts';
import type { Service } from './service.ts';

const hit = { cu: cu.reveal, reveals: 1 };

/** A handle's wallet: the one held, or one looked for live. Refused before any work where a hit can't be paid. */
export function resolve({ world, resolves }: Service, handle: string, { key }: Call) {
  const shortage = key.meter.shortage(hit);
  if (shortage) return refuse(shortage);
  const user = world.users.byHandle(handle);
  if (!user) return refuse('NOT_OBSERVED');
  if (key.terms.sampleOnly && !world.users.isSample(user.id)) return refuse('FORBIDDEN');
  if (holdsWallet(user)) return found(user, 'cached');

  const resolved = resolves.ask(user.id);
  if (!(resolved instanceof Promise)) return settled(resolved);
  // While the work goes on the price of a hit is out of reach of the key's other calls.
  const release = key.meter.hold(hit);
  return resolved.then((end) => ({ ...settled(end), release }));

  function settled(end: Awaited<typeof resolved>) {
    return 'user' in end
      ? found(end.user, 'live')
      : { ok: true as const, answer: { status: 202 as const, record: end.pending } };
  }
}

const found = (user: User, how: 'cached' | 'live') => ({
  ok: true as const,
  answer: { status: 200 as const, record: user },
  headers: { 'x-service-resolve': how },
});
