import { expect, test } from 'vitest';
import { costLine } from '../../../src/cli/spend/cost-line.ts';

const client = (cu: number, atMost = cu, units?: number | null) => ({
  spent: { cu, atMost, calls: 1 },
  left: { key: units === undefined ? undefined : { units, reveals: null } },
});
const parts = { isSandbox: false, isInterrupted: false, isCached: true };
const outcome = { text: '3 of 4 found', total: 4 };

test.each([
  [
    'what came out, its cost and what is left',
    { client: client(500, 500, 19_987_000), outcome },
    '3 of 4 found, 500 CU, 19.9M CU left',
  ],
  ['no balance that is not known', { client: client(500), outcome }, '3 of 4 found, 500 CU'],
  ['no balance of a key without a cap', { client: client(500, 500, null), outcome }, '3 of 4 found, 500 CU'],
  ['a range after a lost answer', { client: client(500, 30_500), outcome }, '3 of 4 found, 500–30,500 CU'],
  ['only the cost of a command that counts nothing', { client: client(200), outcome: undefined }, '200 CU'],
  ['that cached answers cost nothing', { client: undefined, outcome }, '3 of 4 found, 0 CU'],
  ['nothing for a command that paid nothing', { client: client(0), outcome: undefined }, undefined],
  [
    'that the sandbox charges nothing',
    { client: client(500, 500, 9), outcome, isSandbox: true },
    '3 of 4 found, 500 CU (sandbox)',
  ],
  [
    'what is cached after an interrupt',
    { client: client(500), outcome, isInterrupted: true },
    'interrupted: 3 of 4 found, 500 CU; 4 answers are cached',
  ],
  [
    'nothing about a cache that was not used',
    { client: client(500), outcome, isInterrupted: true, isCached: false },
    'interrupted: 3 of 4 found, 500 CU',
  ],
] as const)('the cost line states %s', (_, given, line) =>
  expect(costLine({ ...parts, ...given })).toBe(line),
);
