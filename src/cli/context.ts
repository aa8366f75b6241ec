import type { EndpointId } from '../contract/endpoints.ts';
import type { Client, Ledger, RequestParts } from '../contract/ports.ts';
import type { Sink } from '../output/sink.ts';
import type { View } from '../output/view.ts';
import type { Globals, OutputFormat } from './args/common.ts';
import type { Target } from './connect.ts';
import type { Io } from './io.ts';
import type { RunSettings } from './settings/settings.ts';
import type { Estimate } from './spend/estimate.ts';
import type { RunStore } from './store/open-store.ts';

/** A request that a command is going to make: for dry runs and estimates. */
export interface Planned {
  readonly id: EndpointId | 'ws';
  readonly ask: RequestParts<EndpointId>;
  /** Maximum number of calls, or minutes of the socket; null if there is no limit. Default: 1. */
  readonly times?: number | null;
}

/** Records on their way out, in the format that was asked for. */
export interface Records<T> {
  /** Takes a record; a promise where the caller has to wait for the reader. */
  write(record: T): void | Promise<void>;
  /** Takes one line of JSON as it came; there only where nothing has to be read in it. */
  readonly writeRaw?: (json: Uint8Array) => void | Promise<void>;
  /** Resolves when all that was written has left the process. */
  flush(): Promise<void>;
  end(): Promise<void>;
  /** Ends a run that stopped early; see `OutputSink`. */
  endEarly(): Promise<void>;
  /** Aborted when the reader closes, or writing fails. */
  readonly closed: AbortSignal;
}

/** The output of a run. */
export interface OutputSink extends Sink {
  /**
   * Ends a run that stopped early, and delivers what was written: it was paid for. A file that the user
   * interrupted is left as it was, and the rows are saved beside it.
   */
  endEarly(): Promise<void>;
}

/** Everything that a command may use, as values. */
export interface Context {
  readonly io: Io;
  /** The words that called the command. */
  readonly command: string;
  readonly globals: Globals;
  readonly settings: RunSettings;
  readonly format: OutputFormat;
  /** Ends every wait: the user, the system, or a reader that went away. */
  readonly signal: AbortSignal;
  /** The service of the run: the one that is set, or the embedded one, started on first use. */
  target(): Promise<Target>;
  /** A client of it, connected on first use. */
  client(): Promise<Client>;
  /** The service that kept answers belong to; undefined where none is set yet. The sandbox is one of its own. */
  readonly scope: { readonly baseUrl: string; readonly key: string } | undefined;
  /** Another service or key than the run's own, connected to: for the commands that check keys. */
  connect(target: Target): Promise<Client>;
  /** The store shared by all machines of the key; undefined where none is set. */
  store(): Promise<RunStore | undefined>;
  /** Where paid calls are recorded: on this machine, and in the store if there is one. */
  ledger(): Promise<Ledger>;
  /** The output itself, for text that is not a record. */
  output(): Promise<OutputSink>;
  /** Opens the output for records of one kind. `single`: the command has exactly one answer; `into`: its own output. */
  records<T>(view: View<T>, single?: boolean, into?: Sink): Promise<Records<T>>;
  /**
   * Runs `body` with the output open, and closes it. What was written is delivered even if the body fails:
   * it was paid for.
   */
  emit<T>(view: View<T>, single: boolean, body: (out: Records<T>) => void | Promise<void>): Promise<void>;
  /** Prints a finite list. */
  print<T>(view: View<T>, records: Iterable<T> | AsyncIterable<T>): Promise<void>;
  /** Prints the one answer of a command: a card on a terminal, the record itself in JSON. */
  printOne<T>(view: View<T>, record: T): Promise<void>;
  /** With --dry-run, prints what would be sent and says so. */
  dryRun(planned: Iterable<Planned> | AsyncIterable<Planned>): Promise<boolean>;
  /** Holds the run to so many CU as --max-cu does; to be said before the service is connected to. */
  limitSpend(cu: number): void;
  /** Lets a run begin, asks, or refuses, as the money rules say. */
  approve(estimate: Estimate, what: string): Promise<void>;
  /** Tells the run that its answers are cached, or that they cannot be: cached rows that nobody read are not lost. */
  answersAreCached(are?: boolean): void;
  /** True if rows were paid for, and stdout was closed before they were read. */
  readonly lostPaidRows: boolean;
  /** CU that this run has been charged so far. */
  readonly spent: number;
  /** A line on stderr, unless --quiet. */
  notice(line: string): void;
  close(): Promise<void>;
}
