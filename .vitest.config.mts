import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { cliTableForTests } from './.tools/cli-table3.mjs';

/** The files that take longest. They start first, so that the run does not end with one of them alone. */
const slow = [
  'docs/demo',
  'e2e/tail',
  'e2e/tail-kill',
  'e2e/completion',
  'e2e/progress',
  'e2e/pnl-export',
  'e2e/key-command',
  'e2e/pipes',
  'sim/relay',
  'e2e/install',
  'store/relay-kill',
  'e2e/tail-rotate',
  'e2e/keychain',
  'e2e/bulk',
  'store/failures',
  'store/flights',
  'campaign/rotation',
  'campaign/exec',
  'campaign/tail',
  'sim/month',
  'e2e/signals',
  'e2e/pager',
];

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = slow.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return at < 0 ? slow.length : at;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

/** Whether a folder has 2 GiB of free space and may contain programs. */
function isUsable(folder: string): boolean {
  let place: string | undefined;
  try {
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize < 2 * 2 ** 30) return false;
    place = mkdtempSync(join(folder, 'trdr-'));
    writeFileSync(join(place, 'program'), '#!/bin/sh\n', { mode: 0o700 });
    execFileSync(join(place, 'program'));
    return true;
  } catch {
    return false;
  } finally {
    if (place !== undefined) rmSync(place, { recursive: true });
  }
}

// The tests write and sync many small files, which is cheap in memory.
if (isUsable('/dev/shm')) process.env['TMPDIR'] = '/dev/shm';
// No test depends on the day: every run, and the programs that it starts, begins at this time, or at that of TEST_NOW.
const begin = process.env['TEST_NOW'] ?? '2026-05-13T10:20:30Z';
process.env['CLOCK_SHIFT'] = `${Date.parse(begin) - Date.now()}`;
const isSoak = process.env['SOAK'] === '1';

// Node reads these certificates at each start, which takes longer than the rest of the start.
delete process.env['NODE_EXTRA_CA_CERTS'];

/** Takes a Markdown file in as its text, as the build does. */
const markdown = {
  name: 'markdown',
  load: (id: string) =>
    id.endsWith('.md') ? `export default ${JSON.stringify(readFileSync(id, 'utf8'))};` : undefined,
};

export default defineConfig({
  plugins: [cliTableForTests, markdown],
  test: {
    include: ['test/**/*.test.ts', ...(isSoak ? ['test/**/*.soak.ts'] : [])],
    execArgv: ['--require', join(import.meta.dirname, 'test/shift-clock.cjs')],
    // Many tests wait for programs that wait themselves: more workers than processors keep these busy.
    maxWorkers: availableParallelism() + 2,
    // Files share a worker and its modules: loading them again for each file takes a third of the CPU of the suite.
    isolate: false,
    experimental: { fsModuleCache: true },
    sequence: { sequencer: SlowFirst },
    globalSetup: ['test/e2e/build.ts'],
    runner: 'test/runner.ts',
    reporters: ['default', './test/reporter.ts'],
    // A machine with other work to do is slow, and no test is about that.
    testTimeout: isSoak ? 4 * 3_600_000 : 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
