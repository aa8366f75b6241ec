import type { BudgetFacts, Failure } from '../base/failure.ts';

/** The hint of a failure: its own one, or the words for its facts. */
export function hintOf({ hint, facts }: Failure): string | undefined {
  if (hint !== undefined) return hint;
  return facts?.about === 'budget' ? budgetHint(facts) : undefined;
}

function budgetHint({ period, machine, isPriceKnown }: BudgetFacts): string {
  if (isPriceKnown) return `wait until the budget renews, or ${raiseBudgetText(period, machine)}`;
  return `remove the budget to send the call: trdr budget unset ${period}${machineFlag(machine)}`;
}

/** How to raise a budget: `raise it: trdr budget set day N`. */
export const raiseBudgetText = (period: string, machine: string | undefined): string =>
  `raise it: trdr budget set ${period} N${machineFlag(machine)}`;

const machineFlag = (machine: string | undefined): string =>
  machine === undefined ? '' : ` --machine ${machine}`;
