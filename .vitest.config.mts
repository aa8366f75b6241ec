import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// Node reads these certificates at each start, which takes longer than the rest of the start.
delete process.env['NODE_EXTRA_CA_CERTS'];

/** The tests that start programs or run simulations. */
const isolated = ['test/{campaign,e2e,sim,store}/**/*.test.ts'];

export default defineConfig({
  test: {
    // Many tests wait for programs that wait themselves: twice as many workers keep the processors busy.
    maxWorkers: availableParallelism() * 2,
    globalSetup: ['test/e2e/build.ts', 'test/store/require-server.ts'],
    // A machine with other work to do is slow, and no test is about that.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    projects: [
      // Loading the modules again for each file takes longer than these tests.
      {
        extends: true,
        test: { name: 'shared', isolate: false, include: ['test/**/*.test.ts'], exclude: isolated },
      },
      { extends: true, test: { name: 'isolated', include: isolated } },
    ],
  },
});
