import type { Io } from '../io.ts';
import { canAsk, confirm } from '../prompt.ts';
import type { WaitLine } from './wait-line.ts';

/** A part of the terminal that is redrawn, such as a progress line. */
interface Display {
  /** Clears it right before a line is printed; it is drawn again by itself. */
  clear?(): void;
  hide(): void;
  show(): void;
}

/** The streams of the run, what it says on stderr, and what it asks. */
export class Terminal {
  readonly io: Io;
  /**
   * Aborted by a signal, or when the run can no longer write its output. The abort ends every wait.
   */
  readonly signal: AbortSignal;
  /** Prints a line with --debug; undefined without it. */
  readonly trace: ((line: string) => void) | undefined;
  /** What the run waits for, as a person sees it. */
  readonly waits: WaitLine;
  readonly #write: (text: string) => void;
  readonly #displays = new Set<Display>();
  readonly #waiting: string[] = [];
  #isLent = false;
  /** Settled when nothing else has the terminal. */
  #returned: Promise<unknown> = Promise.resolve();

  constructor(
    io: Io,
    signal: AbortSignal,
    write: (text: string) => void,
    trace: ((line: string) => void) | undefined,
    waits: WaitLine,
  ) {
    this.io = io;
    this.waits = waits;
    this.signal = signal;
    this.trace = trace && ((line) => this.#below(() => trace(line)));
    this.#write = (line) => this.#below(() => write(line));
  }

  /**
   * Prints a line to stderr, unless --quiet is set. During a question, or in a pager, it waits.
   * This is a property and no method, because it is handed to parts that know no terminal.
   */
  readonly notice = (line: string): void => {
    if (this.#isLent) this.#waiting.push(line);
    else this.#write(line);
  };

  /**
   * Prints a line that needs no action, only to a person who watches: a mail from cron should not
   * contain it.
   */
  readonly tell = (line: string): void => {
    if (this.io.stderr.isTTY === true) this.notice(line);
  };

  /**
   * Registers a part of the terminal that a question or a pager hides. Returns a function that
   * removes the registration.
   */
  display(shown: Display): () => void {
    this.#displays.add(shown);
    if (this.#isLent) shown.hide();
    return () => void this.#displays.delete(shown);
  }

  /** Prints where a line of its own begins. */
  #below(print: () => void): void {
    for (const shown of this.#displays) shown.clear?.();
    print();
  }

  get canAsk(): boolean {
    return canAsk(this.io);
  }

  /** Asks a question that is answered with yes or no. Undefined if nobody can be asked. */
  async confirm(question: string): Promise<boolean | undefined> {
    return await this.lend(() => confirm(this.io, question, this.signal));
  }

  /** Draws nothing while `use` has the terminal. A question waits until a pager has returned it. */
  async lend<T>(use: () => Promise<T>): Promise<T> {
    await this.#returned;
    const used = this.#lendNow(use);
    this.#returned = used.catch(() => {});
    return await used;
  }

  async #lendNow<T>(use: () => Promise<T>): Promise<T> {
    this.#isLent = true;
    for (const shown of this.#displays) shown.hide();
    try {
      return await this.waits.aside(use);
    } finally {
      this.#isLent = false;
      for (const text of this.#waiting.splice(0)) this.#write(text);
      for (const shown of this.#displays) shown.show();
    }
  }
}
