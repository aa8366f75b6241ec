import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type RunnerTestCase, TestRunner, vi } from 'vitest';

const TORN_DOWN = 'after the environment was torn down';

/** The tests that start a server, whose clock is that of the machine. */
const onServers = /\/test\/(?:store\/|campaign\/(?:money|rotation)\.test|docs\/.*\.soak)/;
/** The module that Node has loaded into this process before all others. */
const clock: { shiftClock(isShifted: boolean): void } = createRequire(import.meta.url)(
  './shift-clock.cjs',
);

/**
 * Files share a worker and its modules. What a file is still loading when it ends could never be loaded again, and would fail in
 * each later file of the worker: so a file ends only when nothing is loading.
 */
export default class Runner extends TestRunner {
  onBeforeCollect(paths: readonly string[]): void {
    clock.shiftClock(!paths.some((path) => onServers.test(path)));
  }

  override async onAfterRunFiles(): Promise<void> {
    await vi.dynamicImportSettled();
    super.onAfterRunFiles();
  }

  /** Ends a worker that can load nothing more, so that this is one failure and another worker runs the rest. */
  override onAfterRunTask(test: RunnerTestCase): void {
    super.onAfterRunTask(test);
    if (!test.result?.errors?.some(({ message }) => message.includes(TORN_DOWN))) return;
    writeSync(
      2,
      `a module was still loading when an earlier file ended; found by ${test.file.name}\n`,
    );
    process.exit(1);
  }
}
