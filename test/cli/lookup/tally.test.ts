import { expect, test } from 'vitest';
import { LookupTally } from '../../../src/cli/lookup/tally.ts';

const BEGAN = 1_800_000_000_000;

test.each([
  [0, '1 of 1 subject found'],
  [1, '1 of 1 subject found'],
  [999, '1 of 1 subject found'],
  [1_000, '1 of 1 subject found, read up to 1s ago'],
  [-5_000, '1 of 1 subject found'],
  [300_000, '1 of 1 subject found, read up to 5m ago'],
])('a record that was read %s ms before the run', (ms, text) => {
  const tally = new LookupTally(false, BEGAN);
  tally.add({ found: true, time: BEGAN - ms });
  expect(tally.text).toBe(text);
});
