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
  standing = 0;
  /** What of `lost` are ended minutes of the WebSocket. */
  lostMinutes = 0;

  /** Whether another `most` CU stay within a limit, whatever the calls in flight cost. */
  fits(most: number, limit: number): boolean {
    return this.cu + this.lost + this.reserved + this.standing + most <= limit;
  }

  get spent(): Spent {
    return {
      cu: this.cu,
      atMost: this.cu + this.lost + this.standing,
      minutes: this.lostMinutes + this.standing,
      inFlight: this.reserved,
      calls: this.calls,
    };
  }
}

/** An answer, and what the run had spent when it was requested. */
interface Stated<T> {
  readonly answer: T;
  readonly before: Spent;
}

/**
 * What is left, by the last answers. Uncertain costs count with their maximum, so that it is never
 * overstated.
 */
export class RunRemainder implements Remainder {
  readonly #cost: RunCost;
  #account: Stated<Known<Me>> | undefined;
  #budgets: Stated<readonly BudgetLeft[]> | undefined;

  constructor(cost: RunCost) {
    this.#cost = cost;
  }

  get key(): Remainder['key'] {
    if (!this.#account) return undefined;
    const { units, ...others } = leftOf(this.#account.answer);
    return {
      ...others,
      units: units === null ? null : this.#less(units, this.#account.before),
    };
  }

  get unitsUsed(): number | null {
    const used = this.#account?.answer.usage?.unitsUsed;
    if (!this.#account || used === undefined) return null;
    return used + this.#cost.cu - this.#account.before.cu;
  }

  get budgets(): readonly BudgetLeft[] {
    if (!this.#budgets) return [];
    const { answer, before } = this.#budgets;
    return answer.map((budget) => ({ ...budget, left: this.#less(budget.left, before) }));
  }

  request(): Learn {
    const before = this.#cost.spent;
    return ({ me, budgets }) => {
      if (me) this.#account = { answer: me, before };
      if (budgets) this.#budgets = { answer: budgets, before };
    };
  }

  /** Subtracts what the run may have spent since an answer was requested. */
  #less(left: number, before: Spent): number {
    return Math.max(0, left - (this.#cost.spent.atMost - before.atMost));
  }
}
