import { closeSync, fstatSync, openSync } from 'node:fs';
import { quietly } from '../base/calls.ts';
import { systemClock } from '../base/clock.ts';
import { createInFlight, type InFlight } from '../core/client/in-flight.ts';
import { workingFolder } from '../state/paths.ts';
import { endingSignals, Interrupt, type Io } from './io.ts';
import { run } from './run.ts';

export async function runProcess(argv: readonly string[]): Promise<void> {
  const inFlight = createInFlight();
  const paging: Io['paging'] = { state: 'off' };
  const signals = handleSignals(inFlight, paging);
  let stdin: NodeJS.ReadStream | undefined;
  let stderr: NodeJS.WriteStream | undefined;
  const atExit = new Set<(exit: number) => void>();
  // `run` empties the set, unless the process ends before the run does.
  process.once('exit', (code) => {
    try {
      for (const act of atExit) act(code);
    } catch (error) {
      process.stderr.write(`trdr: ${error instanceof Error ? error.message : error}\n`);
    }
  });
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
      // Ignore errors of stderr, because the program can do nothing about them.
      stderr ??= process.stderr.on('error', () => {});
      return stderr;
    },
    isJournal: isJournal(process.env['JOURNAL_STREAM']),
    terminal: controllingTerminal(process.platform),
    cwd: workingFolder(process.env),
    platform: process.platform,
    clock: systemClock,
    random: Math.random,
    paging,
    signal: signals.first,
    onReopen(act) {
      process.on('SIGUSR2', act);
      return () => process.off('SIGUSR2', act);
    },
    inFlight,
    atEnd: new Set(),
    atExit,
  });
  // From now on, every signal exits at once, even while a slow reader receives the last output.
  signals.runEnded();
  stdin?.destroy();
  // Exiting at once is faster than waiting for Node to end, but `process.exit` would cut off
  // pending output.
  if (process.stdout.writableLength === 0 && (stderr?.writableLength ?? 0) === 0) process.exit();
}

/**
 * `JOURNAL_STREAM` alone does not show this, because it stays set if stderr is redirected
 * (systemd.exec(5)).
 */
function isJournal(stream: string | undefined): boolean {
  const file = stream ? quietly(() => fstatSync(2)) : undefined;
  return file !== undefined && stream === `${file.dev}:${file.ino}`;
}

/** The terminal of the session. It can be used for questions even if stdin and stdout are pipes. */
function controllingTerminal(platform: NodeJS.Platform): Io['terminal'] {
  const path = platform === 'win32' ? '\\\\.\\CONIN$' : '/dev/tty';
  return {
    exists() {
      const fd = quietly(() => openSync(path, 'r+'));
      if (fd !== undefined) closeSync(fd);
      return fd !== undefined;
    },
    // Load the module on first use, because loading takes milliseconds and few runs ask a question.
    open: () => new (process.getBuiltinModule('node:tty').ReadStream)(openSync(path, 'r+')),
  };
}

/**
 * How long the exit waits for a reader. One that has stopped reading would otherwise prevent it.
 */
const DELIVERY_MS = 3_000;

/**
 * Equal signals within this time count as one: wrappers such as npx forward what the whole process
 * group got.
 */
const SAME_MS = 100;

type EndingSignal = keyof typeof endingSignals;

function handleSignals(inFlight: InFlight, paging: Io['paging']) {
  const ending = new AbortController();
  let over = false;
  let first: { readonly signal: EndingSignal; readonly at: number } | undefined;
  const stop = (signal: EndingSignal) => {
    const interrupt = new Interrupt(signal);
    const at = systemClock.mono();
    if (signal === 'SIGINT' && paging.state !== 'off' && !over) {
      // The run ends when the reader leaves the pager, whose Ctrl-C may arrive here after that.
      if (paging.state === 'filling') ending.abort(interrupt);
      return;
    }
    // Exit at once, because the run has ended.
    if (over) process.exit(interrupt.exit);
    if (first) {
      if (first.signal === signal && at - first.at < SAME_MS) return;
      process.exit(interrupt.exit);
    }
    first = { signal, at };
    ending.abort(interrupt);
    void inFlight.idle().then(() => {
      setTimeout(() => {
        const why =
          process.stdout.writableLength > 0
            ? 'stdout is blocked: its reader has not read the last rows'
            : 'the shutdown took too long and was cut off';
        process.stderr.write(`trdr: ${why}\n`, () => process.exit(interrupt.exit));
        setTimeout(() => process.exit(interrupt.exit), 200).unref();
      }, DELIVERY_MS).unref();
    });
  };
  for (const signal of Object.keys(endingSignals) as EndingSignal[]) process.on(signal, stop);
  return {
    /** Aborted by the first signal, which starts a clean shutdown. */
    first: ending.signal,
    /** Called when the run has ended. From then on, every signal exits at once. */
    runEnded(): void {
      over = true;
    },
  };
}
