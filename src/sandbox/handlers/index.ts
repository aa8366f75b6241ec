import type { Me } from '../../contract/records/account.ts';
import { type Handlers, reply } from '../http/endpoint.ts';
import { type Key, meterOf } from '../keys/key.ts';
import { identityHandlers } from './identity.ts';
import { launchpadHandlers } from './launchpad.ts';
import { numbersHandlers } from './numbers.ts';
import { resolveHandler } from './resolve.ts';
import { thesisHandlers } from './theses.ts';

/** A handler for every endpoint. A missing handler is a compile error. */
export const handlers: Handlers = {
  ...identityHandlers,
  'user.resolve': resolveHandler,
  ...numbersHandlers,
  ...thesisHandlers,
  ...launchpadHandlers,
  me: ({ clock }, _, key) => reply(accountOf(key, clock.now())),
};

// The service description shows only `usage`, `entitlement` and the rate limit. All other members of this
// record are assumptions.
function accountOf(key: Key, now: number): Me {
  const { id, mode, plan, terms, scopes, unmetered } = key;
  const { totalUnits: _, totalReveals: __, ...usage } = meterOf(key, now);
  return {
    account: { id: `account-of-${id}`, name: 'Sandbox', mode },
    plan: { id: plan, name: terms.title },
    scopes: [...scopes],
    ratePerMinute: terms.ratePerMinute,
    entitlement: { unmetered, monthlyUnits: terms.monthlyUnits },
    usage,
  };
}
