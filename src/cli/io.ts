import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../base/clock.ts';

/** An output stream as the program sees one: a terminal, a pipe or a file. */
export type Out = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** Everything of the outside world that a command may touch, as values. */
export interface Io {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  readonly stdout: Out;
  readonly stderr: Out;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  readonly clock: Clock;
  readonly random: () => number;
  /** Aborted with an `Interrupt` when the user or the system ends the run. */
  readonly signal: AbortSignal;
}

/** Why a run was ended from outside. */
export class Interrupt extends Error {
  override readonly name = 'Interrupt';
  readonly exit: 130 | 143;
  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super(signal === 'SIGINT' ? 'interrupted' : 'terminated');
    this.exit = signal === 'SIGINT' ? 130 : 143;
  }
}
