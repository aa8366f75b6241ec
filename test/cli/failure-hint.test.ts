import { expect, it } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import { hintOf, wordedRecord } from '../../src/cli/failure-hint.ts';
import { budgetRefusal } from '../../src/contract/budget.ts';
import { failedRecord } from '../../src/core/lookup/lookup.ts';

const now = Date.UTC(2026, 10, 22);
const refused = (scope: 'key' | 'machine', most?: number) =>
  budgetRefusal(
    {
      period: 'day',
      scope,
      name: scope === 'key' ? '' : 'desk',
      limit: 500,
      left: 100,
      reserved: 0,
    },
    most,
    now,
  );

it.each([
  [refused('key', 200), 'wait until the budget renews, or raise it: trdr budget set day N'],
  [
    refused('machine', 200),
    'wait until the budget renews, or raise it: trdr budget set day N --machine desk',
  ],
  [refused('key'), 'remove the budget to send the call: trdr budget unset day'],
  [refused('machine'), 'remove the budget to send the call: trdr budget unset day --machine desk'],
])('words the facts of a budget (%#)', (failure, hint) => {
  expect(hintOf(failure)).toBe(hint);
});

it('keeps a hint that is words already', () => {
  const failure = new Failure('usage', 'no', { code: 'USAGE', hint: 'say yes' });
  expect(hintOf(failure)).toBe('say yes');
});

it('adds the words of the hint to the record of a failed lookup, and changes nothing else', () => {
  const failure = new Failure('answer', 'no', { code: 'NO', hint: { about: 'noHandle' } });
  const { error, ...rest } = failedRecord('mira', failure);
  const record = { ...rest, error: { ...error, unmatched: [1] } };
  const hint = 'use "trdr whois" to see the user';
  expect(JSON.stringify(wordedRecord(record, failure))).toBe(
    JSON.stringify({ ...record, error: { ...error, hint, unmatched: [1] } }),
  );
  const found = { subject: 'mira', found: true, error: {} } as const;
  expect(wordedRecord(found, failure)).toBe(found);
  expect(wordedRecord(record, undefined)).toBe(record);
});
