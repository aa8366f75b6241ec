import { distinctHandles, endpoints, normalHandle } from '../../contract/endpoints.ts';
import type { Pnl } from '../../contract/records/pnl.ts';
import { type Call, ok, refuse, route } from '../server/http/endpoint-handler.ts';
import { flawOfHandle } from './handle.ts';
import type { Routes, Service } from './service.ts';

/** Trading numbers, of one handle and of many. */
export function numbersRoutes({ world, clock }: Service): Routes<'user.pnl' | 'users.pnl'> {
  return {
    'user.pnl': route(endpoints['user.pnl'], ({ params }, call) => {
      const flaw = flawOfHandle(params.handle);
      if (flaw) return refuse('VALIDATION_ERROR', flaw);
      const pnl = world.pnl(normalHandle(params.handle), clock.now());
      if (!pnl) return refuse('NOT_OBSERVED');
      return hidden(pnl, call) ? refuse('FORBIDDEN') : ok(pnl);
    }),
    'users.pnl': route(endpoints['users.pnl'], ({ body }, call) => {
      for (const handle of body.handles) {
        const flaw = flawOfHandle(handle);
        if (flaw) return refuse('VALIDATION_ERROR', flaw);
      }
      const entries: Pnl[] = [];
      const missing: string[] = [];
      const now = clock.now();
      for (const handle of distinctHandles(body.handles).map(normalHandle)) {
        const pnl = world.pnl(handle, now);
        if (pnl) entries.push(pnl);
        else missing.push(handle);
      }
      if (entries.some((pnl) => hidden(pnl, call))) return refuse('FORBIDDEN');
      return ok({ count: entries.length, missing, entries });
    }),
  };

  /** Whether numbers show a wallet that the key may not see. */
  function hidden(pnl: Pnl, { key }: Call): boolean {
    if (!key.terms.sampleOnly || (pnl.wallet === null && pnl.evmWallet === null)) return false;
    const user = world.users.byHandle(normalHandle(pnl.handle));
    return !(user && world.users.isSample(user.id));
  }
}
