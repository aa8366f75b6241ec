import type { BudgetLeft, Client, Learn, Remainder } from '../../contract/ports/client.ts';
import type { Known } from '../../contract/read-record.ts';
import type { Me } from '../../contract/records/account.ts';
import { leftOf } from '../account.ts';

type Spent = Client['spent'];

/** What a run has spent and reserved, in CU. */
export class RunCost {
  /** What answers are known to have cost. */
  cu = 0;
  /** What may have been charged in addition, for example for lost answers. */
  lost = 0;
  /** The calls that were or may have been charged. */
  calls = 0;
  /** The maximum cost of the requests in flight. */
  reserved = 0;
  /** The cost of the open minutes of the WebSocket. */
  openMinutes = 0;
  /** The wallet reveals of answers, those that lost answers may have used, and those in flight. */
  reveals = 0;
  lostReveals = 0;
  reservedReveals = 0;
  /** What of `lost` are ended minutes of the WebSocket. */
  lostMinutes = 0;

  /** Whether another `most` CU stay within a limit, whatever the calls in flight cost. */
  fits(most: number, limit: number): boolean {
    return this.cu + this.lost + this.reserved + this.openMinutes + most <= limit;
  }

  fitsReveals(more: number, limit: number): boolean {
    return this.reveals + this.lostReveals + this.reservedReveals + more <= limit;
  }

  get spent(): Spent {
    return {
      cu: this.cu,
      atMost: this.cu + this.lost + this.openMinutes,
      minutes: this.lostMinutes + this.openMinutes,
      openMinutes: this.openMinutes,
      inFlight: this.reserved,
      calls: this.calls,
      reveals: this.reveals,
      revealsAtMost: this.reveals + this.lostReveals + this.reservedReveals,
    };
  }
}

/** An answer, and what of the cost of the run it includes: what was charged, or recorded, then. */
interface Stated<T> {
  readonly answer: T;
  readonly included: number;
}

/**
 * What is left, by the last answers. Uncertain costs count with their maximum, so that it is never
 * overstated.
 */
export class RunRemainder implements Remainder {
  readonly #cost: RunCost;
  #account: (Stated<Known<Me>> & { readonly cu: number }) | undefined;
  #budgets: Stated<readonly BudgetLeft[]> | undefined;

  constructor(cost: RunCost) {
    this.#cost = cost;
  }

  get key(): Remainder['key'] {
    if (!this.#account) return undefined;
    const { units, ...others } = leftOf(this.#account.answer);
    return {
      ...others,
      units: units === null ? null : this.#less(units, this.#account.included),
    };
  }

  get unitsUsed(): number | null {
    const used = this.#account?.answer.usage?.unitsUsed;
    if (!this.#account || used === undefined) return null;
    return used + this.#cost.cu - this.#account.cu;
  }

  get budgets(): readonly BudgetLeft[] {
    if (!this.#budgets) return [];
    const { answer, included } = this.#budgets;
    return answer.map((budget) => ({ ...budget, left: this.#less(budget.left, included) }));
  }

  request(): Learn {
    const { cu, atMost, openMinutes } = this.#cost.spent;
    return ({ me, budgets }) => {
      // The service charges a minute of the WebSocket when it begins, the ledger when it is
      // reserved.
      if (me) this.#account = { answer: me, included: atMost - openMinutes, cu };
      if (budgets) this.#budgets = { answer: budgets, included: atMost };
    };
  }

  /** Subtracts what the run may have spent beyond what an answer includes. */
  #less(left: number, included: number): number {
    return Math.max(0, left - (this.#cost.spent.atMost - included));
  }
}
