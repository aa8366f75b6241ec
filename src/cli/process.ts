import { systemClock } from '../base/clock.ts';
import { createInFlight } from '../core/client/in-flight.ts';
import { workingFolder } from '../state/paths.ts';
import { type EndingSignal, endingSignals, Interrupt } from './io.ts';
import { run } from './run.ts';

/** The time for delivering, once the last paid call is answered. Without it, a stalled reader delays the end forever. */
const DELIVERY_MS = 3_000;

/**
 * Shells and wrappers such as npx pass a signal on that the whole process group gets from the terminal. The
 * second delivery of one keystroke is not a second signal.
 */
const SAME_MS = 100;

/** Runs one command line of this process: its streams, its signals, its exit code. */
export async function runProcess(argv: readonly string[]): Promise<void> {
  const ending = new AbortController();
  const inFlight = createInFlight(systemClock);
  let over = false;
  let first: { readonly signal: EndingSignal; readonly at: number } | undefined;
  const stop = (signal: EndingSignal) => {
    const interrupt = new Interrupt(signal);
    const at = systemClock.mono();
    // After the end there is nothing left to wait for.
    if (over) process.exit(interrupt.exit);
    if (first) {
      if (first.signal === signal && at - first.at < SAME_MS) return;
      process.exit(interrupt.exit);
    }
    first = { signal, at };
    ending.abort(interrupt);
    void inFlight.idle().then(() => {
      setTimeout(() => {
        process.stderr.write('trdr: stdout is blocked: the last rows were not read\n', () =>
          process.exit(interrupt.exit),
        );
        setTimeout(() => process.exit(interrupt.exit), 200).unref();
      }, DELIVERY_MS).unref();
    });
  };
  for (const signal of Object.keys(endingSignals) as EndingSignal[]) process.on(signal, stop);
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
    inFlight,
  });
  // The handlers stay: what was written last may still be on its way to a slow reader.
  over = true;
  stdin?.destroy();
  // With nothing left to write, what Node takes apart at its own end need not be waited for. An exit with
  // something left would cut it off.
  if (process.stdout.writableLength === 0 && (stderr?.writableLength ?? 0) === 0) process.exit();
}
