import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Many tests wait for programs that wait themselves: twice as many workers keep the processors busy.
    maxWorkers: availableParallelism() * 2,
    globalSetup: ['test/e2e/build.ts', 'test/store/require-server.ts'],
    // A machine with other work to do is slow, and no test is about that.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
