import { endpoints } from '../../contract/endpoints.ts';
import { normalHandle } from '../../contract/handles.ts';
import { holdsWallet, type User } from '../../contract/records/user.ts';
import { type Caller, endpointHandler, reject, reply } from '../server/http/endpoint-handler.ts';
import type { EndpointHandlers, HandlerContext } from './context.ts';
import { resolveHandle } from './resolve.ts';
import { addressError, handleError } from './validation.ts';

type Identity = 'user.handle' | 'user.wallet' | 'user.id' | 'user.resolve';

/** Serves lookups by handle, wallet and id, and live resolves. */
export function identityHandlers(context: HandlerContext): EndpointHandlers<Identity> {
  const { users } = context.world;
  return {
    'user.handle': endpointHandler(endpoints['user.handle'], ({ params }, caller) => {
      const problem = handleError(params.handle);
      if (problem) return reject('VALIDATION_ERROR', problem);
      return found(users.byHandle(normalHandle(params.handle)), caller);
    }),
    'user.wallet': endpointHandler(endpoints['user.wallet'], ({ params }, caller) => {
      const problem = addressError(params.address);
      if (problem) return reject('VALIDATION_ERROR', problem);
      return found(users.byWallet(params.address), caller);
    }),
    'user.id': endpointHandler(endpoints['user.id'], ({ params }, caller) => {
      return found(users.byId(params.id.toLowerCase()), caller);
    }),
    'user.resolve': endpointHandler(endpoints['user.resolve'], ({ params }, caller) => {
      const problem = handleError(params.handle);
      if (problem) return reject('VALIDATION_ERROR', problem);
      return resolveHandle(context, normalHandle(params.handle), caller);
    }),
  };

  function found(user: User | undefined, { key }: Caller) {
    if (!user) return reject('NOT_OBSERVED');
    if (key.terms.sampleOnly && holdsWallet(user) && !users.isSample(user.id)) return reject('FORBIDDEN');
    return reply(user);
  }
}
