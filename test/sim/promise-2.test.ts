import { test } from 'vitest';
import { keepPromise, PATIENCE_MS } from './suite.ts';

test(
  'whatever goes wrong, every post comes out exactly once, and every gap is said',
  { timeout: PATIENCE_MS },
  () => keepPromise(1),
);
