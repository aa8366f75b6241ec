import type { BudgetLeft, Remainder } from '../../contract/ports.ts';
import type { Known } from '../../contract/read-record.ts';
import type { Me } from '../../contract/records/account.ts';
import { leftOf } from '../account.ts';
import type { Spent } from './limit.ts';

/** Creates the remainder of a run that has spent `spent`. */
export function createRemainder(spent: () => Spent): Remainder {
  let account: { readonly me: Known<Me>; readonly then: Spent } | undefined;
  let budgets: { readonly states: readonly BudgetLeft[]; readonly then: Spent } | undefined;
  // Calls whose cost is not certain count with their maximum cost, so that what is left is never overstated.
  const less = (left: number, then: Spent) => Math.max(0, left - (spent().atMost - then.atMost));
  return {
    get key() {
      if (!account) return undefined;
      const { units, reveals } = leftOf(account.me);
      return { units: units === null ? null : less(units, account.then), reveals };
    },
    get unitsUsed() {
      const used = account?.me.usage?.unitsUsed;
      return account && used !== undefined ? used + spent().cu - account.then.cu : null;
    },
    get budgets() {
      return (budgets?.states ?? []).map((state) => ({
        ...state,
        left: less(state.left, budgets?.then ?? spent()),
      }));
    },
    request() {
      const then = spent();
      return (stated) => {
        if (stated.me) account = { me: stated.me, then };
        if (stated.budgets) budgets = { states: stated.budgets, then };
      };
    },
  };
}
