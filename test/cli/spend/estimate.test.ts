import { describe, expect, it } from 'vitest';
import { mayStart, needsConfirmation } from '../../../src/cli/spend/confirm-above.ts';
import { balanceText, estimateText } from '../../../src/cli/spend/estimate.ts';

const allowed = (given: { maxCu?: number; yes?: boolean }) => ({
  confirmAbove: 100_000,
  maxCu: given.maxCu,
  yes: given.yes ?? false,
});

describe('a run starts without confirmation', () => {
  it.each([
    ['when it is cheap', { least: 0, most: 100_000 }, {}],
    ['when the user said yes', { least: 0, most: 60_000_000 }, { yes: true }],
    ['when the spending limit covers it', { least: 0, most: 300_000 }, { maxCu: 300_000 }],
    ['when the spending limit itself is low', { least: 0, most: 60_000_000 }, { maxCu: 50_000 }],
    ['when a limit was given, whatever the estimate', { least: 0, most: 300_000 }, { maxCu: 200_000 }],
  ])('%s', (_, estimate, given) => expect(mayStart(estimate, allowed(given))).toBe(true));
});

describe('a run requires confirmation', () => {
  it('when it can cost more than confirmAbove', () => {
    expect(mayStart({ least: 0, most: 100_001 }, allowed({}))).toBe(false);
  });

  it('and without a terminal, names the flags that allow it', () => {
    const refusal = needsConfirmation({ least: 400_000, most: 60_000_000 }, 100_000, undefined);
    expect(refusal.kind).toBe('confirm');
    expect(refusal.message).toContain('400,000–60,000,000 CU');
    expect(refusal.hint).toContain('--max-cu 60000000');
  });
});

it.each([
  [0, '0 CU left'],
  [999_999.9, '999,999 CU left'],
  [1_000_000, '1.0M CU left'],
  [19_999_999, '19.9M CU left'],
  [1_234_567_890, '1,234.5M CU left'],
])('the balance never shows more than is left: %d', (units, text) => expect(balanceText(units)).toBe(text));

it('an exact estimate is printed as one number', () => {
  expect(estimateText({ least: 200, most: 200 })).toBe('200 CU');
  expect(estimateText({ least: 800, most: 120_000 })).toBe('800–120,000 CU');
});
