import { Failure } from '../../base/failure.ts';
import type { DiskWait } from '../../output/disk-wait.ts';
import type { Records } from '../../output/format/printing.ts';
import type { Sink } from '../../output/sink.ts';
import type { View } from '../../output/view.ts';
import type { Settings } from '../settings/settings.ts';
import { openPrinter, openSink } from './open-printer.ts';
import type { Terminal } from './terminal.ts';

interface OutNeeds {
  readonly terminal: Terminal;
  readonly settings: Settings;
  readonly diskWait: DiskWait;
  /** Whether the command prints records until it is stopped. */
  readonly isStream: boolean;
  /** Aborted when the output can no longer be written: this ends every wait of the run. */
  readonly closing: AbortController;
}

/** What a run prints: its sinks, opened on first use, and the printers of its format. */
export class Out {
  /** Where a run that follows a feed waits while a disk is full. */
  readonly diskWait: DiskWait;
  readonly #needs: OutNeeds;
  readonly #sinks: Sink[] = [];

  constructor(needs: OutNeeds) {
    this.#needs = needs;
    this.diskWait = needs.diskWait;
  }

  /** Opens the output; `into` replaces that of the run. */
  async open(into?: Sink): Promise<Sink> {
    const { terminal, settings, isStream, diskWait } = this.#needs;
    const { io, waits } = terminal;
    const wait = isStream ? diskWait : undefined;
    // The line that says what the run waits for is on the same terminal as the rows.
    const beforeWrite = io.stdout.isTTY === true ? waits.beforeOutput : undefined;
    const sink = into ?? (await openSink(io, settings.flags.out, wait, beforeWrite));
    this.#sinks.push(sink);
    const end = () => this.#needs.closing.abort(sink.closed.reason);
    if (sink.closed.aborted) end();
    else sink.closed.addEventListener('abort', end, { once: true });
    return sink;
  }

  async #printer<T>(view: View<T>, single: boolean, into?: Sink) {
    const { terminal, settings, isStream } = this.#needs;
    const sink = await this.open(into ?? (await this.#pager()));
    const how = { format: settings.format, single, live: isStream };
    return { sink, printer: await openPrinter(terminal, settings, sink, view, how) };
  }

  /** The pager for a long table; undefined if nobody would use one. */
  async #pager(): Promise<Sink | undefined> {
    const { terminal, settings, isStream } = this.#needs;
    const { flags, format } = settings;
    const isTable = format === 'table' && flags.out === undefined && !isStream;
    if (!isTable || flags.noPager || terminal.io.stdout.isTTY !== true) return undefined;
    const { pagerSink } = await import('./pager.ts');
    return pagerSink(terminal.io, (use) => terminal.lend(use));
  }

  /** Opens the output for records of one kind. `single`: the command has exactly one answer. */
  async records<T>(view: View<T>, single = false, into?: Sink): Promise<Records<T>> {
    const { sink, printer } = await this.#printer(view, single, into);
    return {
      write: (record) => printer.write(record),
      writeRaw: printer.writeRaw,
      closed: sink.closed,
      progress: sink.progress,
      flush: () => sink.flush(),
      async end() {
        await printer.end();
        await sink.finish('complete');
      },
    };
  }

  /**
   * Prints records, and ends the output. An error in `rows` is thrown after the rows before it were
   * delivered: they were paid for. `isSingle`: the command has exactly one answer, a card in place
   * of a table, an object in place of an array.
   */
  async print<T>(
    view: View<T>,
    rows: Iterable<T> | AsyncIterable<T>,
    { isSingle = false }: { readonly isSingle?: boolean } = {},
  ): Promise<void> {
    const { sink, printer } = await this.#printer(view, isSingle);
    let count = 0;
    try {
      for await (const row of rows) {
        const written = printer.write(row);
        count++;
        if (written) await written;
      }
    } catch (error) {
      if (count > 0 && !this.#needs.closing.signal.aborted) await printer.end();
      throw error;
    }
    await printer.end();
    await sink.finish('complete');
  }

  async printText(text: string): Promise<void> {
    const sink = await this.open();
    await sink.write(text);
    await sink.finish('complete');
  }

  /** Writes buffered rows now, so that they are not lost at a second signal. */
  flushAll(): void {
    for (const sink of this.#sinks) sink.flush().catch(() => {});
  }

  /**
   * Ends the output of a failed run. Keeps a file with rows that were paid for, and says where they
   * are.
   */
  async keep(isPaid: boolean): Promise<string | undefined> {
    let where: string | undefined;
    for (const sink of this.#sinks) {
      const isBroken = sink.closed.reason instanceof Failure;
      try {
        const kept = await sink.finish(isPaid ? 'kept' : 'discarded');
        if (kept === undefined) continue;
        where = isBroken
          ? `the rows written so far are in ${kept} (the last one may be incomplete)`
          : `${this.#needs.settings.flags.out} was not replaced; the rows that were paid for are in ${kept}`;
      } catch {
        where = 'the rows that were paid for could not be saved';
      }
    }
    return where;
  }

  async close(): Promise<void> {
    for (const sink of this.#sinks.toReversed()) await sink.finish('discarded');
  }
}
