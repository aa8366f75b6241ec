import { endpoints } from '../../contract/endpoints.ts';
import type { Me } from '../../contract/records/account.ts';
import type { Key } from '../keys/key.ts';
import { endpointHandler, reply } from '../server/http/endpoint-handler.ts';
import type { EndpointHandlers } from './context.ts';

/** Returns the record of the key that makes the request. */
export const accountHandlers: EndpointHandlers<'me'> = {
  me: endpointHandler(endpoints.me, (_, { key }) => reply(recordOf(key))),
};

// The service description shows only `usage`, `entitlement` and the rate limit. All other members of this
// record are assumptions.
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
