import { endpoints, normalHandle } from '../../contract/endpoints.ts';
import { holdsWallet, type User } from '../../contract/records/user.ts';
import { type Call, ok, refuse, route } from '../server/http/endpoint-handler.ts';
import { flawOfAddress } from './address.ts';
import { flawOfHandle } from './handle.ts';
import { resolve } from './resolve.ts';
import type { Routes, Service } from './service.ts';

type Identity = 'user.handle' | 'user.wallet' | 'user.id' | 'user.resolve';

/** Who is behind a handle, a wallet or an id. */
export function identityRoutes(service: Service): Routes<Identity> {
  const { users } = service.world;
  return {
    'user.handle': route(endpoints['user.handle'], ({ params }, call) => {
      const flaw = flawOfHandle(params.handle);
      if (flaw) return refuse('VALIDATION_ERROR', flaw);
      return found(users.byHandle(normalHandle(params.handle)), call);
    }),
    'user.wallet': route(endpoints['user.wallet'], ({ params }, call) => {
      const flaw = flawOfAddress(params.address);
      if (flaw) return refuse('VALIDATION_ERROR', flaw);
      return found(users.byWallet(params.address), call);
    }),
    'user.id': route(endpoints['user.id'], ({ params }, call) => {
      return found(users.byId(params.id.toLowerCase()), call);
    }),
    'user.resolve': route(endpoints['user.resolve'], ({ params }, call) => {
      const flaw = flawOfHandle(params.handle);
      if (flaw) return refuse('VALIDATION_ERROR', flaw);
      return resolve(service, normalHandle(params.handle), call);
    }),
  };

  function found(user: User | undefined, { key }: Call) {
    if (!user) return refuse('NOT_OBSERVED');
    if (key.terms.sampleOnly && holdsWallet(user) && !users.isSample(user.id)) return refuse('FORBIDDEN');
    return ok(user);
  }
}
