import { describe, expect, it } from 'vitest';
import { estimateText, judge, needsConfirmation } from '../../../src/cli/spend/estimate.ts';

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
    ['when only the given spending limit bounds it', { least: 0, most: null }, { maxCu: 1_000_000 }],
    ['when it has no bound but the spending limit is low', { least: 0, most: null }, { maxCu: 100_000 }],
  ])('%s', (_, estimate, given) => expect(judge(estimate, allowed(given))).toBe('go'));
});

describe('a run requires confirmation', () => {
  it.each([
    ['when it can cost more than confirmAbove', { least: 0, most: 100_001 }, {}],
    [
      'when the spending limit is high and does not cover it',
      { least: 0, most: 300_000 },
      { maxCu: 200_000 },
    ],
    ['when it has no bound and no spending limit', { least: 0, most: null }, {}],
  ])('%s', (_, estimate, given) => expect(judge(estimate, allowed(given))).toBe('ask'));

  it('and without a terminal, names the flags that allow it', () => {
    const refusal = needsConfirmation({ least: 400_000, most: 60_000_000 }, 100_000);
    expect(refusal.kind).toBe('confirm');
    expect(refusal.message).toContain('400,000–60,000,000 CU');
    expect(refusal.hint).toContain('--max-cu 60000000');
  });
});

it('prints an exact estimate as one number', () => {
  expect(estimateText({ least: 200, most: 200 })).toBe('200 CU');
  expect(estimateText({ least: 200, most: null })).toContain('no upper bound');
});
