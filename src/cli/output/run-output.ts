import { Failure } from '../../base/failure.ts';
import { countText } from '../../base/units.ts';
import type { Client } from '../../contract/ports/client.ts';
import type { Sink } from '../../output/sink.ts';
import type { View } from '../../output/view.ts';
import type { AnyCommand } from '../command.ts';
import type { Context, RunOutcome } from '../context.ts';
import { type Io, isInterrupted } from '../io.ts';
import { balanceText, estimateText } from '../spend/permission.ts';
import { openPrinter, openSink } from './output.ts';

/** The output of a run, opened on first use. When it can no longer be written, `closing` ends every wait. */
export function createRunOutput(
  { io, globals, settings, format, notice, diskWait }: RunOutputNeeds,
  command: AnyCommand,
  closing: AbortController,
  client: () => Client | undefined,
) {
  const sinks: Sink[] = [];
  let cached = false;
  const noOutcome = (): RunOutcome | undefined => undefined;
  let outcome = noOutcome;
  const isPaid = () => (client()?.spent.atMost ?? 0) > 0;
  prepareShutdown(io, sinks, notice);

  const output: Context['output'] = async (into) => {
    const sink =
      into ?? (await openSink(io, globals.out, command.stream === true ? diskWait : undefined));
    sinks.push(sink);
    const end = () => closing.abort(sink.closed.reason);
    if (sink.closed.aborted) end();
    else sink.closed.addEventListener('abort', end, { once: true });
    return sink;
  };

  const open = async <T>(view: View<T>, single: boolean, into?: Sink) => {
    const sink = await output(into);
    const how = { format, single, live: command.stream === true };
    return { sink, printer: await openPrinter({ io, globals, settings, notice }, sink, view, how) };
  };

  const emit: Context['emit'] = async (view, single, body) => {
    const { sink, printer } = await open(view, single);
    let rows = 0;
    const [one, many] = view.noun ?? [];
    if (outcome === noOutcome && one !== undefined && many !== undefined)
      outcome = () => ({ found: rows, total: rows, text: countText(rows, one, many) });
    try {
      await body({
        write(record) {
          const written = printer.write(record);
          rows++;
          return written;
        },
        flush: () => sink.flush(),
      });
    } catch (error) {
      if (rows > 0 && !closing.signal.aborted) await printer.end();
      throw error;
    }
    await printer.end();
    await sink.finish('complete');
  };

  const lostPaidRows = () => {
    const paid = !globals.sandbox && isPaid();
    return paid && !cached && command.stream !== true && sinks.some((sink) => sink.lost?.());
  };

  return {
    output,
    emit,
    lostPaidRows,
    async records(view, single = false, into) {
      const { sink, printer } = await open(view, single, into);
      return {
        ...printer,
        closed: sink.closed,
        progress: sink.progress,
        flush: () => sink.flush(),
        async end() {
          await printer.end();
          await sink.finish('complete');
        },
      };
    },
    async print(view, list) {
      await emit(view, false, async (out) => {
        for await (const record of list) await out.write(record);
      });
    },
    async printOne(view, record) {
      await emit(view, true, (out) => out.write(record));
    },
    async printText(text) {
      const sink = await output();
      await sink.write(text);
      await sink.finish('complete');
    },
    answersAreCached(are = true) {
      cached = are && settings.folders.cache !== undefined;
    },
    setOutcome(result) {
      outcome = () => result;
    },
    /** The result of the run; undefined if the command does not count results. */
    outcome: () => outcome(),
    /** The last line: the result, the cost, and what is left if known. Undefined if the run sent no paid call and has no result. */
    costLine(): string | undefined {
      const result = outcome();
      if (result?.text === null) return undefined;
      const { spent: { cu, atMost } = { cu: 0, atMost: 0 }, left } = client() ?? {};
      const total = result?.total ?? 0;
      if (atMost === 0 && total === 0) return undefined;
      const units = globals.sandbox ? undefined : left?.key?.units;
      const cost = `${estimateText({ least: cu, most: atMost })}${globals.sandbox && atMost > 0 ? ' (sandbox)' : ''}`;
      const balance = typeof units === 'number' ? [balanceText(units)] : [];
      const line = [...(result === undefined ? [] : [result.text]), cost, ...balance].join(', ');
      if (!isInterrupted(io)) return line;
      const saved = `; ${countText(total, 'answer')} ${total === 1 ? 'is' : 'are'} cached`;
      return `interrupted: ${line}${cached && total > 0 ? saved : ''}`;
    },
    /** Keeps a file with rows that were paid for after an error, and names it in the error or a notice. */
    async endEarly(error: unknown): Promise<unknown> {
      let what: string | undefined;
      for (const sink of sinks) {
        const isBroken = sink.closed.reason instanceof Failure;
        try {
          const kept = await sink.finish(isPaid() ? 'kept' : 'discarded');
          if (kept === undefined) continue;
          what = isBroken
            ? `the rows written so far are in ${kept} (the last one may be incomplete)`
            : `${globals.out} was not replaced; the rows that were paid for are in ${kept}`;
        } catch {
          what = 'the rows that were paid for could not be saved';
        }
      }
      if (error instanceof Failure && !isInterrupted(io)) {
        if (lostPaidRows()) what ??= 'rows that were paid for were not written';
        return what === undefined
          ? error
          : new Failure(error.kind, `${error.message}; ${what}`, error);
      }
      if (what !== undefined) notice(what);
      return error;
    },
    async close() {
      for (const sink of sinks.toReversed()) await sink.finish('discarded');
    },
  } satisfies Partial<Context> & Record<string, unknown>;
}

type RunOutputNeeds = Pick<
  Context,
  'io' | 'globals' | 'settings' | 'format' | 'notice' | 'diskWait'
>;

/** Delivers the rows received so far at the first signal, and reports the calls that the shutdown waits for. */
function prepareShutdown(io: Io, sinks: readonly Sink[], notice: (text: string) => void): void {
  const begin = () => {
    if (!isInterrupted(io)) return;
    // Write buffered rows now, so that they are not lost at a second signal.
    for (const sink of sinks) sink.flush().catch(() => {});
    const { count } = io.inFlight;
    if (count === 0) return;
    const [calls, answers] =
      count === 1 ? ['a paid call', 'its answer'] : [`${count} paid calls`, 'their answers'];
    const seconds = Math.max(1, Math.ceil(io.inFlight.leftMs() / 1000));
    notice(
      `stopping: waiting up to ${seconds}s for ${calls} in flight; a second signal exits at once and loses ${answers}`,
    );
  };
  io.signal.addEventListener('abort', begin, { once: true });
}
