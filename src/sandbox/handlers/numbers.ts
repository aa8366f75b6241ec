import { endpoints } from '../../contract/endpoints.ts';
import { distinctHandles, normalHandle } from '../../contract/handles.ts';
import type { Pnl } from '../../contract/records/pnl.ts';
import { type Caller, endpointHandler, reject, reply } from '../server/http/endpoint-handler.ts';
import type { EndpointHandlers, HandlerContext } from './context.ts';
import { handleError } from './validation.ts';

/** Trading numbers of one handle or of many. */
export function numbersHandlers({ world }: HandlerContext): EndpointHandlers<'user.pnl' | 'users.pnl'> {
  return {
    'user.pnl': endpointHandler(endpoints['user.pnl'], ({ params }, caller) => {
      const problem = handleError(params.handle);
      if (problem) return reject('VALIDATION_ERROR', problem);
      const pnl = world.pnl(normalHandle(params.handle));
      if (!pnl) return reject('NOT_OBSERVED');
      return isHidden(pnl, caller) ? reject('FORBIDDEN') : reply(pnl);
    }),
    'users.pnl': endpointHandler(endpoints['users.pnl'], ({ body }, caller) => {
      for (const handle of body.handles) {
        const problem = handleError(handle);
        if (problem) return reject('VALIDATION_ERROR', problem);
      }
      const entries: Pnl[] = [];
      const missing: string[] = [];
      for (const handle of distinctHandles(body.handles).map(normalHandle)) {
        const pnl = world.pnl(handle);
        if (pnl) entries.push(pnl);
        else missing.push(handle);
      }
      if (entries.some((pnl) => isHidden(pnl, caller))) return reject('FORBIDDEN');
      return reply({ count: entries.length, missing, entries });
    }),
  };

  /** Whether the record contains a wallet that the key may not see. */
  function isHidden(pnl: Pnl, { key }: Caller): boolean {
    if (!key.terms.sampleOnly || (pnl.wallet === null && pnl.evmWallet === null)) return false;
    const user = world.users.byHandle(normalHandle(pnl.handle));
    return !(user && world.users.isSample(user.id));
  }
}
