import type { EndpointId } from '../contract/endpoints.ts';
import type { Client, RequestParts } from '../contract/ports/client.ts';
import type { Ledger } from '../contract/ports/ledger.ts';
import type { DiskWait } from '../output/disk-wait.ts';
import type { Sink } from '../output/sink.ts';
import type { View } from '../output/view.ts';
import type { Globals, OutputFormat } from './args/common.ts';
import type { Io } from './io.ts';
import type { RunSettings } from './settings/settings.ts';
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
  flush(): Promise<void>;
  end(): Promise<void>;
  /** Aborted when the reader closes the output, or a write fails. */
  readonly closed: AbortSignal;
  readonly progress?: Sink['progress'];
}

/** A part of the terminal that is redrawn, such as a progress line. */
interface Display {
  hide(): void;
  show(): void;
}

export interface Target {
  readonly baseUrl: string;
  readonly key: string;
  readonly embedded: boolean;
}

/** The result of a run, for commands that count results. */
export interface RunOutcome {
  /** The result in words: `3 of 4 found`; null for a command that reports its result and its cost itself. */
  readonly text: string | null;
  /** The number of results so far. */
  readonly total: number;
  /** The numbers of results that were found, not found, and failed, where they mean something. */
  readonly found?: number;
  readonly missing?: number;
  readonly failed?: number;
}

export interface Context {
  readonly io: Io;
  readonly command: string;
  readonly globals: Globals;
  readonly settings: RunSettings;
  readonly format: OutputFormat;
  /** Aborted by a signal, or when the run can no longer write its output. The abort ends every wait. */
  readonly signal: AbortSignal;
  /** The service of the run: the configured one, or the embedded one, which is started on first use. */
  target(): Promise<Target>;
  client(): Promise<Client>;
  /** What cached answers belong to; undefined if not configured. The sandbox has its own base URL and key. */
  readonly scope: { readonly baseUrl: string; readonly key: () => Promise<string> } | undefined;
  /** A client for another service or key, for the commands that check keys. */
  connect(target: Target): Promise<Client>;
  /** The store that all machines of the key share; undefined if none is configured, or with --sandbox. */
  store(): Promise<RunStore | undefined>;
  ledger(): Promise<Ledger>;
  /** Opens the output; `into` replaces that of the run. */
  output(into?: Sink): Promise<Sink>;
  /** Opens the output for records of one kind. `single`: the command has exactly one answer. */
  records<T>(view: View<T>, single?: boolean, into?: Sink): Promise<Records<T>>;
  /** Opens and closes the output around `body`. If `body` fails, the records so far are delivered: they were paid for. */
  emit<T>(
    view: View<T>,
    single: boolean,
    body: (out: Pick<Records<T>, 'write' | 'flush'>) => void | Promise<void>,
  ): Promise<void>;
  printText(text: string): Promise<void>;
  print<T>(view: View<T>, records: Iterable<T> | AsyncIterable<T>): Promise<void>;
  /** Prints the only answer of a command: as a card instead of a table, as an object instead of an array. */
  printOne<T>(view: View<T>, record: T): Promise<void>;
  /** With --dry-run, prints the calls and returns true. Otherwise, rejects wrong --fields before anything is sent. */
  dryRun(planned: Iterable<Planned>, view?: Pick<View<unknown>, 'fields'>): Promise<boolean>;
  readonly permission: Permission;
  /** Registers a part of the terminal that a question hides. Returns a function that removes the registration. */
  display(shown: Display): () => void;
  /** Cached answers are not lost if the reader closes the output before it has read their rows. */
  answersAreCached(are?: boolean): void;
  /** The CU that this run has spent so far, without the possible cost of calls whose answers were lost. */
  readonly spent: number;
  /** The rate limit of the key, if known, and the paid calls so far: they determine the remaining time. */
  readonly pace: { readonly perMinute: number | null; readonly calls: number };
  setOutcome(outcome: RunOutcome): void;
  /** Prints a line to stderr, unless --quiet is set. */
  notice(line: string): void;
  /** Where a run that follows a feed waits while a disk is full. */
  readonly diskWait: DiskWait;
}
