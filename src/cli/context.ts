import type { EndpointId } from '../contract/endpoints.ts';
import type { Client, Ledger, RequestParts } from '../contract/ports.ts';
import type { Sink } from '../output/sink.ts';
import type { View } from '../output/view.ts';
import type { Globals, OutputFormat } from './args/common.ts';
import type { Target } from './connect.ts';
import type { Io } from './io.ts';
import type { RunSettings } from './settings/settings.ts';
import type { RunOutcome } from './spend/cost-line.ts';
import type { Permission } from './spend/permission.ts';
import type { RunStore } from './store/open-store.ts';

/** A request that a command would make, for dry runs and estimates. */
export interface Planned {
  readonly id: EndpointId | 'ws';
  readonly ask: RequestParts<EndpointId>;
  /** Maximum number of calls, or minutes of the socket; null if there is no limit. Default: 1. */
  readonly times?: number | null;
  /** Calls per minute, in a run without a known end. */
  readonly perMinute?: number;
  /** False for a call that may turn out to be unnecessary. Default: true. */
  readonly isSure?: boolean;
}

/** Records on their way to the output, in the requested format. */
export interface Records<T> {
  /** Writes a record; returns a promise if the caller has to wait for the reader. */
  write(record: T): void | Promise<void>;
  /** Writes one line of JSON unchanged; only available if the format does not need to parse it. */
  readonly writeRaw?: (json: Uint8Array) => void | Promise<void>;
  /** Resolves when everything written has left the process. */
  flush(): Promise<void>;
  end(): Promise<void>;
  /** Ends a run early; see `OutputSink`. */
  endEarly(): Promise<void>;
  /** Aborted when the reader closes, or writing fails. */
  readonly closed: AbortSignal;
}

/** A line that is redrawn on the terminal. */
export interface Display {
  hide(): void;
  /** Called after the question was answered: the line may be drawn again. */
  show(): void;
}

/** The output of a run. */
export interface OutputSink extends Sink {
  /**
   * Ends a run early and delivers what was written, because it was paid for. After an interrupt, the output
   * file is left unchanged and the rows are saved beside it.
   */
  endEarly(): Promise<void>;
}

/** Everything that a command may use, as values. */
export interface Context {
  readonly io: Io;
  /** The words that ran the command. */
  readonly command: string;
  readonly globals: Globals;
  readonly settings: RunSettings;
  readonly format: OutputFormat;
  /** Ends every wait: on a signal, or when the reader closes the output. */
  readonly signal: AbortSignal;
  /** The service of the run: the configured one, or the embedded one, started on first use. */
  target(): Promise<Target>;
  /** A client for it, created on first use. */
  client(): Promise<Client>;
  /**
   * The service that cached answers belong to; undefined if none is configured. The sandbox has its own.
   */
  readonly scope: { readonly baseUrl: string; readonly key: string } | undefined;
  /** A client for another service or key, for the commands that check keys. */
  connect(target: Target): Promise<Client>;
  /** The store shared by all machines of the key; undefined if none is configured. */
  store(): Promise<RunStore | undefined>;
  /** Records paid calls on this machine, and in the store if there is one. */
  ledger(): Promise<Ledger>;
  /** The raw output, for text that is not a record. */
  output(): Promise<OutputSink>;
  /**
   * Opens the output for records of one kind. `single`: the command has exactly one answer; `into`: another
   * sink.
   */
  records<T>(view: View<T>, single?: boolean, into?: Sink): Promise<Records<T>>;
  /**
   * Runs `body` with the output open, then closes it. What was written is delivered even if the body fails,
   * because it was paid for.
   */
  emit<T>(view: View<T>, single: boolean, body: (out: Records<T>) => void | Promise<void>): Promise<void>;
  /** Prints a finite list. */
  print<T>(view: View<T>, records: Iterable<T> | AsyncIterable<T>): Promise<void>;
  /** Prints the only answer of a command: a card on a terminal, the bare record in JSON. */
  printOne<T>(view: View<T>, record: T): Promise<void>;
  /** With --dry-run, prints the planned calls and returns true. */
  dryRun(planned: Iterable<Planned> | AsyncIterable<Planned>): Promise<boolean>;
  /** Whether the run may spend, and how much. */
  readonly permission: Permission;
  /**
   * Registers something that is drawn on the terminal, so that it is hidden during a question; the function
   * returned unregisters it.
   */
  display(shown: Display): () => void;
  /** Declares whether the answers of the run are cached: cached rows that nobody read are not lost. */
  answersAreCached(are?: boolean): void;
  /** Whether rows were paid for and stdout was closed before they were read. */
  readonly lostPaidRows: boolean;
  /** CU that this run has been charged so far. */
  readonly spent: number;
  /**
   * The key's requests per minute, if known, and the paid calls of this run, for estimates of the remaining
   * time.
   */
  readonly pace: { readonly perMinute: number | null; readonly calls: number };
  /** Sets the result of the run for its cost line; null if the command reports its cost itself. */
  setOutcome(outcome: RunOutcome | null): void;
  /**
   * The last line of a run: its result, its cost, and what is left; undefined if there is nothing to
   * report.
   */
  costLine(): string | undefined;
  /** Prints a line on stderr, unless --quiet. */
  notice(line: string): void;
  /** Saves the paid rows that were written to a file before a write failed, and adds that to the error. */
  saveWritten(error: unknown): Promise<unknown>;
  close(): Promise<void>;
}
