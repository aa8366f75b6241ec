import { describe, expect, it } from 'vitest';
import { Me, readAccount } from '../../src/contract/records/account.ts';

const usage = {
  period: '2026-05',
  unitsUsed: 0,
  unitsRemaining: 1,
  additionalUnits: 0,
  revealsUsed: 0,
  revealsRemaining: null,
};
const entitlement = { unmetered: false, monthlyUnits: 1 };
const facts = (more: object) => readAccount(Me.parse({ usage, entitlement, ...more }));

describe('the record of a key', () => {
  it('yields account, plan, scopes and rate at any nesting', () => {
    const told = { account: 'Desk', plan: 'growth', scopes: ['a', 'b'], ratePerMinute: 600 };
    for (const more of [
      told,
      { ...told, account: { name: 'Desk' }, plan: { name: 'growth' } },
      { ...told, account: { id: 'Desk' }, plan: { title: 'growth' } },
      { account: { name: 'Desk', plan: 'growth', scopes: ['a', 'b'] }, ratePerMinute: 600 },
      { account: 'Desk', plan: { name: 'growth', scopes: ['a', 'b'], ratePerMinute: 600 } },
      { accountId: 'Desk', key: { plan: 'growth', scopes: ['a', 'b'], ratePerMinute: 600 } },
      { account: 'Desk', entitlement: { ...entitlement, ...told, account: undefined } },
    ]) {
      expect(facts(more), JSON.stringify(more)).toEqual(told);
    }
  });

  it('omits what is missing', () => {
    const nothing = { account: null, plan: null, scopes: null, ratePerMinute: null };
    for (const more of [{}, { account: null, plan: 7, scopes: 'all' }, { plan: [], account: {} }]) {
      expect(facts(more), JSON.stringify(more)).toEqual(nothing);
    }
  });
});
