import { closeSync, openSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { systemClock } from '../base/clock.ts';
import { createInFlight } from '../core/client/in-flight.ts';
import { workingFolder } from '../state/paths.ts';
import { type EndingSignal, endingSignals, Interrupt, type Terminal } from './io.ts';
import { run } from './run.ts';

/**
 * Time for writing the output after the last paid call was answered. Without a limit, a stalled reader
 * would block the exit.
 */
const DELIVERY_MS = 3_000;

/**
 * Shells and wrappers such as npx forward a signal that the terminal has already sent to the whole process
 * group. The second delivery of one keystroke must not count as a second signal.
 */
const SAME_MS = 100;

/** Runs the command line of this process with its streams, signals and exit code. */
export async function runProcess(argv: readonly string[]): Promise<void> {
  const ending = new AbortController();
  const inFlight = createInFlight(systemClock);
  let over = false;
  let first: { readonly signal: EndingSignal; readonly at: number } | undefined;
  const stop = (signal: EndingSignal) => {
    const interrupt = new Interrupt(signal);
    const at = systemClock.mono();
    // The run is over, so there is nothing left to wait for.
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
    // Node creates a stream on first access, which takes some milliseconds.
    get stdin() {
      stdin ??= process.stdin;
      return stdin;
    },
    stdout: process.stdout,
    get stderr() {
      // The sink detects a closed reader where that matters.
      stderr ??= process.stderr.on('error', () => {});
      return stderr;
    },
    terminal: controllingTerminal(process.platform),
    cwd: workingFolder(process.env),
    platform: process.platform,
    clock: systemClock,
    random: Math.random,
    signal: ending.signal,
    onReopen(act) {
      process.on('SIGUSR2', act);
      return () => process.off('SIGUSR2', act);
    },
    inFlight,
  });
  // The handlers stay: the last output may still be on its way to a slow reader.
  over = true;
  stdin?.destroy();
  // If nothing is left to write, exit at once and skip Node's own teardown. Otherwise an immediate exit
  // would cut the output off.
  if (process.stdout.writableLength === 0 && (stderr?.writableLength ?? 0) === 0) process.exit();
}

/** The terminal of the session, which accepts answers while stdin and stdout are pipes. */
function controllingTerminal(platform: NodeJS.Platform): Terminal {
  const path = platform === 'win32' ? '\\\\.\\CONIN$' : '/dev/tty';
  return {
    exists() {
      try {
        closeSync(openSync(path, 'r+'));
        return true;
      } catch {
        return false;
      }
    },
    open: () => new ReadStream(openSync(path, 'r+')),
  };
}
