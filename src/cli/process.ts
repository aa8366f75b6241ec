import { systemClock } from '../core/clock.ts';
import { workingFolder } from '../state/paths.ts';
import { Interrupt } from './io.ts';
import { run } from './run.ts';

/** Runs one command line of this process: its streams, its signals, its exit code. */
export async function runProcess(argv: readonly string[]): Promise<void> {
  const ending = new AbortController();
  const stop = (signal: 'SIGINT' | 'SIGTERM') => {
    const interrupt = new Interrupt(signal);
    // Whoever asks twice does not want to wait for an orderly end.
    if (ending.signal.aborted) process.exit(interrupt.exit);
    ending.abort(interrupt);
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
  process.off('SIGINT', stop);
  process.off('SIGTERM', stop);
  stdin?.destroy();
}
