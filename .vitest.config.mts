import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Programs under test run beside the tests: to leave a processor free would leave it idle.
    maxWorkers: availableParallelism(),
    globalSetup: 'test/e2e/build.ts',
    // A machine with other work to do is slow, and no test is about that.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
