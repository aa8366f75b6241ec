import { Failure } from '../../base/failure.ts';
import { countText } from '../../base/units.ts';
import type { Client } from '../../contract/ports.ts';
import type { DiskWait } from '../../output/disk-wait.ts';
import type { Sink } from '../../output/sink.ts';
import type { View } from '../../output/view.ts';
import type { Globals, OutputFormat } from '../args/common.ts';
import type { AnyCommand } from '../command.ts';
import type { Context, OutputSink, Records } from '../context.ts';
import type { Io } from '../io.ts';
import type { RunSettings } from '../settings/settings.ts';
import { isInterrupted, prepareShutdown } from '../shutdown.ts';
import { costLine, type RunOutcome } from '../spend/cost-line.ts';
import { openSink, renderOptions, selectedFields } from './output.ts';

/** The output of a run: the parts of a context that print. */
export interface RunOutput
  extends Pick<
    Context,
    | 'output'
    | 'records'
    | 'emit'
    | 'print'
    | 'printOne'
    | 'printText'
    | 'answersAreCached'
    | 'lostPaidRows'
    | 'setOutcome'
    | 'costLine'
  > {
  /**
   * Saves paid rows to another file if a write failed. Returns the error of the run, with the name of that file
   * if rows were saved.
   */
  saveWritten(error: unknown): Promise<unknown>;
  /** The result of the run; undefined if the command does not count results. */
  readonly outcome: RunOutcome | undefined;
  close(): Promise<void>;
}

/** The facts about the run that the output needs. */
export interface RunOutputOptions {
  readonly io: Io;
  readonly command: AnyCommand;
  readonly globals: Globals;
  readonly settings: RunSettings;
  readonly format: OutputFormat;
  readonly notice: (text: string) => void;
  readonly diskWait: DiskWait;
  /**
   * Aborted when the reader closes the output or a write fails. The abort ends every wait of the run.
   */
  readonly closing: AbortController;
  /** The client of the run; undefined until it is created. */
  readonly client: () => Client | undefined;
}

/** Creates the output without opening it. */
export function createRunOutput(options: RunOutputOptions): RunOutput {
  const { io, command, globals, settings, format, notice, diskWait, closing, client } = options;
  const closers: (() => Promise<void>)[] = [];
  const sinks: Sink[] = [];
  let cached = false;
  let outcome: RunOutcome | null | undefined;
  const isPaid = () => (client()?.spent.atMost ?? 0) > 0;
  prepareShutdown(io, sinks, notice);

  async function output(into?: Sink): Promise<OutputSink> {
    const sink = into ?? (await openSink(io, globals.out, command.stream === true ? diskWait : undefined));
    sinks.push(sink);
    watch(sink);
    let ended = false;
    closers.push(async () => {
      if (!ended) await sink.abandon();
    });
    return {
      ...sink,
      async end() {
        await sink.end();
        ended = true;
      },
      async endEarly() {
        if (!isInterrupted(io) || !sink.setAside) await sink.end();
        else if (!isPaid()) return;
        else
          notice(
            `${globals.out} was not replaced; the rows that were paid for are in ${await sink.setAside()}`,
          );
        ended = true;
      },
    };
  }

  async function records<T>(view: View<T>, single = false, into?: Sink): Promise<Records<T>> {
    const fields = await selectedFields(globals.fields, view);
    const { createPrinter } = await import('../../output/format/printer.ts');
    const sink = await output(into);
    const printer = await createPrinter({
      sink,
      view,
      format,
      fields,
      single,
      live: command.stream === true,
      notify: notice,
      ...(await renderOptions(io, globals, settings)),
    });
    return {
      ...printer,
      closed: sink.closed,
      progress: sink.progress,
      flush: () => sink.flush(),
      async end() {
        await printer.end();
        await sink.end();
      },
      async endEarly() {
        await printer.end();
        await sink.endEarly();
      },
    };
  }

  /** Aborts `closing` when the reader closes the output or a write fails. */
  function watch(sink: Sink) {
    const end = () => closing.abort(sink.closed.reason);
    if (sink.closed.aborted) end();
    else sink.closed.addEventListener('abort', end, { once: true });
  }

  const run: RunOutput = {
    output,
    records,
    async emit(view, single, body) {
      const out = await records(view, single);
      let rows = 0;
      const [one, many] = view.noun ?? [];
      if (outcome === undefined && one !== undefined && many !== undefined) {
        outcome = {
          get found() {
            return rows;
          },
          get text() {
            return countText(rows, one, many);
          },
          get total() {
            return rows;
          },
        };
      }
      const counted: typeof out = {
        ...out,
        write(record) {
          const written = out.write(record);
          rows++;
          return written;
        },
      };
      try {
        await body(counted);
      } catch (error) {
        if (rows > 0 && !closing.signal.aborted) await out.endEarly();
        throw error;
      }
      await out.end();
    },
    async print(view, list) {
      await run.emit(view, false, async (out) => {
        for await (const record of list) await out.write(record);
      });
    },
    async printOne(view, record) {
      await run.emit(view, true, (out) => out.write(record));
    },
    async printText(text) {
      const sink = await output();
      await sink.write(text);
      await sink.end();
    },
    answersAreCached(are = true) {
      cached = are && settings.folders.cache !== undefined;
    },
    get lostPaidRows() {
      const paid = !globals.sandbox && isPaid();
      return paid && !cached && command.stream !== true && sinks.some((sink) => sink.lost?.());
    },
    setOutcome(result) {
      outcome = result;
    },
    get outcome() {
      return outcome ?? undefined;
    },
    costLine() {
      if (outcome === null) return undefined;
      return costLine({
        client: client(),
        outcome,
        isSandbox: globals.sandbox,
        isInterrupted: isInterrupted(io),
        isCached: cached,
      });
    },
    async saveWritten(error) {
      if (!(error instanceof Failure) || !isPaid()) return error;
      for (const { saveWritten } of sinks) {
        const saved = await saveWritten?.().then(
          (name) => name && `the rows written so far are in ${name} (the last one may be incomplete)`,
          () => 'the rows that were paid for could not be saved',
        );
        if (saved) return new Failure(error.kind, `${error.message}; ${saved}`, error);
      }
      if (!run.lostPaidRows) return error;
      return new Failure(error.kind, `${error.message}; rows that were paid for were not written`, error);
    },
    async close() {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
  return run;
}
