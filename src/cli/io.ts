import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../base/clock.ts';
import type { InFlight } from '../core/client/in-flight.ts';

type Out = Writable & {
  readonly fd?: number;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

/** The input of a terminal, whose raw mode shows no typed key. */
export type TerminalInput = Readable & { setRawMode?(raw: boolean): unknown };

/** The terminal of the session, which can be opened even if stdin and stdout are redirected. */
interface Terminal {
  exists(): boolean;
  open(): TerminalInput;
}

/**
 * Whether a pager has the keyboard. Ctrl-C is then meant for it: it ends only the rows that the
 * pager still waits for.
 */
interface Paging {
  state: 'off' | 'filling' | 'filled';
}

export interface Io {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: TerminalInput & { readonly fd?: number; readonly isTTY?: boolean };
  readonly stdout: Out;
  readonly stderr: Out;
  /**
   * Whether stderr is connected to the journal of systemd, which stores a time and a level with
   * each line.
   */
  readonly isJournal?: boolean | undefined;
  readonly terminal?: Terminal | undefined;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  readonly clock: Clock;
  readonly random: () => number;
  readonly paging: Paging;
  /**
   * Aborted with an `Interrupt` by the first signal. The abort prevents new calls and ends every
   * wait.
   */
  readonly signal: AbortSignal;
  /** Calls `act` at each SIGUSR2. Returns a function that removes the handler. */
  readonly onReopen: (act: () => void) => () => void;
  readonly inFlight: InFlight;
  readonly atEnd: Set<(end: RunEnd) => Promise<void>>;
  /** Called with the exit code right before the process ends, also at a second signal. */
  readonly atExit: Set<(exit: number) => void>;
}

/**
 * The exit code of a run, and in one word why it ended: `done`, the code of an error, or the name
 * of a signal.
 */
export interface RunEnd {
  readonly exit: number;
  readonly reason: string;
}

/** The signals that shut down a run cleanly, with their exit codes. */
export const endingSignals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type EndingSignal = keyof typeof endingSignals;

export const isInterrupted = ({ signal }: Pick<Io, 'signal'>): boolean =>
  signal.reason instanceof Interrupt;

export class Interrupt extends Error {
  override readonly name = 'Interrupt';
  readonly reason: EndingSignal;
  readonly exit: (typeof endingSignals)[EndingSignal];
  constructor(signal: EndingSignal) {
    super(`ended by ${signal}`);
    this.reason = signal;
    this.exit = endingSignals[signal];
  }
}
