import type { EndpointId } from '../contract/endpoints.ts';
import type { Client, Ledger, RequestParts } from '../contract/ports.ts';
import type { DiskWait } from '../output/disk-wait.ts';
import type { Sink } from '../output/sink.ts';
import type { View } from '../output/view.ts';
import type { Globals, OutputFormat } from './args/common.ts';
import type { Io } from './io.ts';
import type { RunSettings } from './settings/settings.ts';
import type { RunOutcome } from './spend/cost-line.ts';
import type { Permission } from './spend/permission.ts';
import type { RunStore } from './store/open-store.ts';

/** A request that a command would send, for dry runs and estimates. */
export interface Planned {
  readonly id: EndpointId | 'ws';
  readonly ask: RequestParts<EndpointId>;
  /** The maximum number of calls, or of minutes on the WebSocket; null if there is no maximum. Default: 1. */
  readonly times?: number | null;
  /** Calls per minute, for a run whose duration is not known. */
  readonly perMinute?: number;
  /** False if the run may turn out not to need the call. Default: true. */
  readonly isSure?: boolean;
  /** The least and greatest cost of all these calls, if they are not those of the endpoint. */
  readonly least?: number;
  readonly most?: number;
}

export interface Records<T> {
  /** Writes a record. Returns a promise if the caller must wait for the reader. */
  write(record: T): void | Promise<void>;
  /** Writes the JSON text of one record unchanged; undefined if the output format needs the parsed record. */
  readonly writeRaw?: (json: Uint8Array) => void | Promise<void>;
  /** Resolves when all written records have left the process. */
  flush(): Promise<void>;
  end(): Promise<void>;
  /** Aborted when the reader closes the output, or a write fails. */
  readonly closed: AbortSignal;
  readonly progress?: Sink['progress'];
}

/** A part of the terminal that is redrawn, such as a progress line. */
export interface Display {
  hide(): void;
  /** Called when a question was answered, so that the part may be drawn again. */
  show(): void;
}

export interface Target {
  readonly baseUrl: string;
  readonly key: string | undefined;
  readonly embedded: boolean;
}

export interface Context {
  readonly io: Io;
  readonly command: string;
  readonly globals: Globals;
  readonly settings: RunSettings;
  readonly format: OutputFormat;
  /**
   * Aborted by SIGINT, SIGTERM or SIGHUP, or when the run can no longer write its output. The abort ends every
   * wait.
   */
  readonly signal: AbortSignal;
  /** The service of the run: the configured one, or the embedded one, which is started on first use. */
  target(): Promise<Target>;
  /** The client for the service of the run, created on first use. */
  client(): Promise<Client>;
  /**
   * The base URL and key that cached answers belong to; undefined if either is not configured. The sandbox has
   * its own base URL and key.
   */
  readonly scope: { readonly baseUrl: string; readonly key: () => Promise<string> } | undefined;
  /** A client for another service or key, for the commands that check keys. */
  connect(target: Target): Promise<Client>;
  /** The store that all machines of the key share; undefined if none is configured, or with --sandbox. */
  store(): Promise<RunStore | undefined>;
  /** The ledger, which records paid calls on this machine, and in the store if there is one. */
  ledger(): Promise<Ledger>;
  /** Opens the output; `into` replaces that of the run. */
  output(into?: Sink): Promise<Sink>;
  /**
   * Opens the output for records of one kind. `single` means that the command has exactly one answer; `into`
   * replaces the output of the run.
   */
  records<T>(view: View<T>, single?: boolean, into?: Sink): Promise<Records<T>>;
  /**
   * Opens the output, runs `body` and closes the output. If `body` fails, the records written so far are
   * still delivered, because they were paid for.
   */
  emit<T>(view: View<T>, single: boolean, body: (out: Records<T>) => void | Promise<void>): Promise<void>;
  printText(text: string): Promise<void>;
  print<T>(view: View<T>, records: Iterable<T> | AsyncIterable<T>): Promise<void>;
  /** Prints the only answer of a command: as a card instead of a table, as an object instead of an array. */
  printOne<T>(view: View<T>, record: T): Promise<void>;
  /**
   * With --dry-run, prints the planned calls and returns true. Otherwise returns false, and checks the value of
   * --fields, so that a wrong name is rejected before anything is sent.
   */
  dryRun(
    planned: Iterable<Planned> | AsyncIterable<Planned>,
    view?: Pick<View<unknown>, 'fields'>,
  ): Promise<boolean>;
  readonly permission: Permission;
  /**
   * Registers a part of the terminal that must be hidden during a question. Returns a function that removes
   * the registration.
   */
  display(shown: Display): () => void;
  /**
   * Tells the output whether the answers of the run are cached. Cached answers are not lost if the reader
   * closes the output before it has read their rows.
   */
  answersAreCached(are?: boolean): void;
  /** The CU that this run has spent so far, without the possible cost of calls whose answers were lost. */
  readonly spent: number;
  /**
   * The key's limit of requests per minute, if known, and the number of paid calls in this run; used to
   * estimate the remaining time.
   */
  readonly pace: { readonly perMinute: number | null; readonly calls: number };
  /** Sets the result that the cost line and the receipt show. */
  setOutcome(outcome: RunOutcome): void;
  /** Prints a line to stderr, unless --quiet is set. */
  notice(line: string): void;
  /** Where a run that follows a feed waits while a disk is full. */
  readonly diskWait: DiskWait;
}
