import { expect, test } from 'vitest';
import { budgetRefusal } from '../../src/contract/budget.ts';

test.each([
  ['key', 200, 'wait until the budget renews, or raise it: trdr budget set day N', 100],
  [
    'machine',
    200,
    'wait until the budget renews, or raise it: trdr budget set day N --machine desk',
    100,
  ],
  ['key', undefined, 'remove the budget to send the call: trdr budget unset day', undefined],
  [
    'machine',
    undefined,
    'remove the budget to send the call: trdr budget unset day --machine desk',
    undefined,
  ],
] as const)('a budget of a %s that refuses %j CU says what fits', (scope, most, hint, left) => {
  const name = scope === 'key' ? '' : 'desk';
  const budget = { period: 'day', scope, name, limit: 500, left: 100, reserved: 0 } as const;
  expect(budgetRefusal(budget, most, Date.UTC(2026, 10, 22))).toMatchObject({ hint, left });
});
