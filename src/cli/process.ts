import { systemClock } from '../base/clock.ts';
import { workingFolder } from '../state/paths.ts';
import { Interrupt } from './io.ts';
import { run } from './run.ts';

/** How long an orderly end may take once it was asked for. */
const PATIENCE_MS = 3_000;

/** Runs one command line of this process: its streams, its signals, its exit code. */
export async function runProcess(argv: readonly string[]): Promise<void> {
  const ending = new AbortController();
  let over = false;
  const stop = (signal: 'SIGINT' | 'SIGTERM') => {
    const interrupt = new Interrupt(signal);
    // Whoever asks twice does not want to wait for an orderly end, and after the end there is nothing to wait for.
    if (ending.signal.aborted || over) process.exit(interrupt.exit);
    ending.abort(interrupt);
    // A reader that takes nothing any more would hold up the end for good.
    setTimeout(() => process.exit(interrupt.exit), PATIENCE_MS).unref();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  let stdin: NodeJS.ReadStream | undefined;
  let stderr: NodeJS.WriteStream | undefined;
  process.exitCode = await run({
    argv,
    env: process.env,
    // Node makes a stream when it is first touched, which takes some milliseconds.
    get stdin() {
      stdin ??= process.stdin;
      return stdin;
    },
    stdout: process.stdout,
    get stderr() {
      // A reader that went away is told apart where it matters, by the sink.
      stderr ??= process.stderr.on('error', () => {});
      return stderr;
    },
    cwd: workingFolder(process.env),
    platform: process.platform,
    clock: systemClock,
    random: Math.random,
    signal: ending.signal,
  });
  // The handlers stay: what was written last may still be on its way to a slow reader.
  over = true;
  stdin?.destroy();
  // With nothing left to write, what Node takes apart at its own end need not be waited for. An exit with
  // something left would cut it off.
  if (process.stdout.writableLength === 0 && (stderr?.writableLength ?? 0) === 0) process.exit();
}
