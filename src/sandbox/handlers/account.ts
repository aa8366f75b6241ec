import { endpoints } from '../../contract/endpoints.ts';
import type { Me } from '../../contract/records/account.ts';
import type { Key } from '../keys/key.ts';
import { ok, route } from '../server/http/endpoint-handler.ts';
import type { Routes } from './service.ts';

/** The calling key's own record. */
export const accountRoutes: Routes<'me'> = {
  me: route(endpoints.me, (_, { key }) => ok(recordOf(key))),
};

// Only the members of `usage` and `entitlement` and the rate are named by the service; how the others nest is
// this service's own choice.
function recordOf({ id, mode, plan, terms, scopes, meter }: Key): Me {
  const { totalUnits: _, totalReveals: __, ...usage } = meter.reading();
  return {
    account: { id: `account-of-${id}`, name: 'Sandbox', mode },
    plan: { id: plan, name: terms.title },
    scopes: [...scopes],
    ratePerMinute: terms.ratePerMinute,
    entitlement: { unmetered: meter.unmetered, monthlyUnits: terms.monthlyUnits },
    usage,
  };
}
