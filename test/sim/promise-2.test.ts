import { test } from 'vitest';
import { checkPromise, TIMEOUT_MS } from './suite.ts';

test(
  'with any faults, every post is written exactly once, and every gap is reported',
  { timeout: TIMEOUT_MS },
  () => checkPromise(1),
);
