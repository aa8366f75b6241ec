import type { Records } from '../../output/format/printing.ts';
import { outputClosed } from '../../output/sink.ts';
import type { Writer } from '../ports.ts';
import type { PostFields, TailRow } from '../post-row.ts';

/** What else uses the terminal of an output. */
export interface SharedTerminal {
  /** Hides the status line before rows are printed, so that they do not continue it. */
  hide(): void;
  /**
   * A promise that delays the rows while a question is open; undefined if they may be printed now.
   */
  paused(): Promise<void> | undefined;
}

const alone: SharedTerminal = { hide() {}, paused: () => undefined };

/** Writes rows to stdout or a pipe. */
export class PrintWriter implements Writer {
  /** Aborted when the reader closes the output, or a write fails. */
  readonly closed: AbortSignal;
  readonly #printer: Records<PostFields>;
  readonly #terminal: SharedTerminal;
  /**
   * The writes that the operating system has not received yet: the last byte, and the number of
   * rows.
   */
  readonly #unwritten: { readonly end: number; readonly rows: number }[] = [];

  constructor(printer: Records<PostFields>, terminal: SharedTerminal = alone) {
    this.#printer = printer;
    this.#terminal = terminal;
    this.closed = printer.closed;
  }

  write(rows: readonly TailRow[]): boolean | Promise<boolean> {
    if (!this.#isOpen()) return false;
    const waiting = this.#terminal.paused();
    if (waiting) return waiting.then(() => this.write(rows));
    this.#terminal.hide();
    const wait = this.#printAll(rows);
    this.#dropWritten();
    const end = this.#printer.progress?.().accepted ?? 0;
    this.#unwritten.push({ end, rows: rows.length });
    return wait ? wait.then(() => this.#isOpen()) : this.#isOpen();
  }

  async flush(): Promise<boolean> {
    if (this.#isOpen()) await this.#printer.flush();
    return this.#isOpen();
  }

  pending(): number {
    this.#dropWritten();
    return this.#unwritten.reduce((sum, { rows }) => sum + rows, 0);
  }

  async close(): Promise<void> {
    if (!this.closed.aborted) await this.#printer.end();
  }

  /**
   * Writes the original bytes if possible: reading `record` would parse each row, which halves the
   * throughput.
   */
  #printAll(rows: readonly TailRow[]): void | Promise<void> {
    const printer = this.#printer;
    let wait: void | Promise<void> | null = null;
    for (const row of rows) {
      if (row.raw !== null && printer.writeRaw) wait = printer.writeRaw(row.raw);
      else wait = printer.write(row.record);
    }
    return wait ?? undefined;
  }

  #dropWritten(): void {
    const written = this.#printer.progress?.().written ?? Number.POSITIVE_INFINITY;
    while (this.#unwritten[0] && this.#unwritten[0].end <= written) this.#unwritten.shift();
  }

  /** Whether the output still has a reader. Throws every error except that of a closed reader. */
  #isOpen(): boolean {
    if (!this.closed.aborted) return true;
    if (this.closed.reason === outputClosed) return false;
    throw this.closed.reason;
  }
}
