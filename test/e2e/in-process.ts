import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { Interrupt, type Io } from '../../src/cli/io.ts';
import { run } from '../../src/cli/run.ts';
import { createInFlight } from '../../src/core/client/in-flight.ts';
import {
  type CommandLine,
  envOf,
  openHome,
  type Ran,
  type RunOptions,
  ranOf,
  wordsOf,
} from './harness.ts';
import { checkSchema } from './schema-check.ts';

/** Options of a run inside the test process. */
export interface InProcessOptions extends Omit<RunOptions, 'input'> {
  /** The streams that are terminals: all, or those named. */
  readonly tty?: boolean | { readonly [S in 'stdin' | 'stdout' | 'stderr']?: boolean } | undefined;
  readonly columns?: number | undefined;
  /** The complete stdin. */
  readonly stdin?: string | Uint8Array | undefined;
  /** The answer to each prompt; stdin stays open. */
  readonly typed?: readonly string[] | undefined;
  /** What is typed before the first prompt. */
  readonly typedAhead?: string | undefined;
  /** The answer to each prompt on the terminal itself, while stdin or stdout are pipes. */
  readonly typedOnTerminal?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
  readonly platform?: NodeJS.Platform | undefined;
  /** When aborted, ends the run as SIGINT does. */
  readonly interrupt?: AbortSignal | undefined;
  /** Whether to skip the check of records against their schema, for a service whose records do not match it. */
  readonly differs?: boolean | undefined;
  readonly onStderr?: ((text: string) => void) | undefined;
}

const gather = (stream: PassThrough) => {
  const parts: Buffer[] = [];
  stream.on('data', (part: Buffer) => parts.push(part));
  return () => Buffer.concat(parts).toString('utf8');
};

/** A terminal on which each prompt is given the same answer. */
const terminalOf = (typed: string, stderr: PassThrough) => ({
  exists: () => true,
  open() {
    const input = Object.assign(new PassThrough(), { setRawMode: () => {} });
    const answer = (part: Buffer) => {
      if (!isPrompt(part)) return;
      stderr.off('data', answer);
      input.write(typed);
    };
    stderr.on('data', answer);
    return input;
  },
});

/** A prompt is the only text that does not end with a line break. */
const isPrompt = (part: Buffer) => !part.toString().endsWith('\n');

/** What a terminal has to redraw its lines. */
const redrawing = {
  cursorTo: () => true,
  moveCursor: () => true,
  clearLine: () => true,
};

/** What was drawn to be cleared again: the line that says what a run waits for. */
const frames = /\x1b\[\?2026h[\s\S]*?\x1b\[\?2026l/g;

type EndingSignal = Interrupt['reason'];

type EndedRun = Ran & { readonly rawModes: readonly boolean[] };

/** A run in this process that has not ended yet. */
export interface StartedRun {
  readonly stdout: PassThrough;
  /** What it has said until now. */
  readonly stderr: string;
  /** Ends it as this signal ends a process. */
  kill(signal: EndingSignal): void;
  readonly ended: Promise<EndedRun>;
}

/**
 * Runs a command line in this process, with streams that may be terminals: this is fast, and the only way to test
 * the output on a terminal. The output is without what was drawn and cleared, because that depends on the speed of
 * the machine. `rawModes` lists the changes of stdin's raw mode.
 */
export const runInProcess = (
  line: CommandLine,
  options: InProcessOptions = {},
): Promise<EndedRun> => begin(line, options).ended;

/** Begins such a run, for a test that acts meanwhile. It ends with the test at the latest. */
export function startInProcess(line: CommandLine, options: InProcessOptions = {}): StartedRun {
  const started = begin(line, options);
  onTestFinished(async () => {
    started.kill('SIGTERM');
    await started.ended.catch(() => {});
  });
  return started;
}

function begin(line: CommandLine, options: InProcessOptions): StartedRun {
  const argv = wordsOf(line);
  const { tty = false, columns = 80, home = openHome() } = options;
  const isTTY = (name: 'stdin' | 'stdout' | 'stderr') =>
    typeof tty === 'boolean' ? tty : tty[name] === true;
  const out = (name: 'stdout' | 'stderr') =>
    Object.assign(new PassThrough(), isTTY(name) ? { isTTY: true, columns, ...redrawing } : {});
  const rawModes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), {
    ...(isTTY('stdin') && { isTTY: true }),
    setRawMode: (mode: boolean) => void rawModes.push(mode),
  });
  if (options.typed === undefined) stdin.end(options.stdin ?? '');
  else if (options.typedAhead !== undefined) stdin.write(options.typedAhead);
  const [stdout, stderr] = [out('stdout'), out('stderr')];
  const [said, written] = [gather(stdout), gather(stderr)];
  const told = () => written().replace(frames, '');
  const answers = [...(options.typed ?? [])];
  stderr.on('data', (part: Buffer) => {
    if (isPrompt(part) && answers.length > 0) stdin.write(answers.shift());
  });
  stderr.on('data', (part: Buffer) => options.onStderr?.(part.toString()));
  const ending = new AbortController();
  const kill = (signal: EndingSignal) => ending.abort(new Interrupt(signal));
  options.interrupt?.addEventListener('abort', () => kill('SIGINT'), { once: true });
  const io: Io = {
    argv,
    env: envOf({ ...options, home }),
    stdin,
    stdout,
    stderr,
    ...(options.typedOnTerminal !== undefined && {
      terminal: terminalOf(options.typedOnTerminal, stderr),
    }),
    cwd: options.cwd ?? home.path,
    platform: options.platform ?? process.platform,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    signal: ending.signal,
    paging: { state: 'off' },
    onReopen: () => () => {},
    inFlight: createInFlight(),
    atEnd: new Set(),
    atExit: new Set(),
  };
  const finish = async (): Promise<EndedRun> => {
    const exitCode = await runInZone(io);
    stdin.destroy();
    // Waits for the last write.
    await new Promise((resolve) => setImmediate(resolve));
    if (!options.differs) await checkSchema(argv, said(), told());
    return { ...ranOf(said(), told(), exitCode), rawModes };
  };
  return {
    ...{ stdout, kill },
    get stderr() {
      return told();
    },
    ended: finish(),
  };
}

/** Dates follow the variable of the process. */
async function runInZone(io: Io): Promise<number> {
  const zone = process.env['TZ'];
  if (io.env['TZ'] === undefined) return run(io);
  process.env['TZ'] = io.env['TZ'];
  try {
    return await run(io);
  } finally {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  }
}
