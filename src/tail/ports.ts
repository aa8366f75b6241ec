import type { Clock } from '../base/clock.ts';
import type { Failure } from '../base/failure.ts';
import type { PostFields, TailRow } from './row.ts';

/** One page of the feed, newest first. */
export interface FeedPage {
  readonly rows: readonly TailRow[];
  readonly hasMore: boolean;
  readonly nextBefore: string | null;
  /** Posts without an id: they cannot be deduplicated, so they are skipped and counted. */
  readonly nameless?: readonly PostFields[];
  /** The cost of the page. */
  readonly cu: number;
}

/** The source of pages, which are complete and ordered. Throws `Failure`s. */
export interface PageSource {
  page(ask: { readonly before?: string; readonly limit: number }, signal: AbortSignal): Promise<FeedPage>;
  /** The cost of its calls so far, if the source counts them itself: only it knows about lost answers. */
  readonly spent?: (() => { readonly cu: number; readonly atMost: number }) | undefined;
  /** The price of a page of `limit` rows. */
  price(limit: number): number;
  /** The number of rows of the smallest useful page and of the largest. */
  readonly sizes: { readonly step: number; readonly max: number };
}

/** Why a connection has ended. */
export interface LinkEnd {
  readonly why: 'closed' | 'reset' | 'quota' | 'overflow';
  readonly text: string;
  /** Set if the service may not have noticed the end and may still charge. */
  readonly unconfirmed?: boolean;
  /** Why this machine ended it. */
  readonly failure?: Failure | undefined;
}

/** An open socket, with a bounded queue of frames. */
export interface Link {
  /** The next queued frame. */
  next(): Uint8Array | undefined;
  /** The size of the queued frames in bytes. */
  readonly held: number;
  /** The number of pings, pongs and frames received. */
  readonly signs: number;
  /** Set when the connection has ended; frames may still be queued. */
  readonly end: LinkEnd | undefined;
  send(text: string): void;
  /** Sends a ping. */
  ping?(): void;
  /** Closes the connection; resolves to whether the service confirmed it and stopped charging, if that can be known. */
  close(): Promise<boolean> | undefined;
}

/** Opens a socket; `onChange` is called after each event. Throws `Failure`s. */
export type Connect = (onChange: () => void, signal: AbortSignal) => Promise<Link>;

/** The output for rows. `false` means that the reader has closed, which is not a failure. */
export interface TailSink {
  /** Writes rows in order; a promise resolves when there is room for more. */
  write(rows: readonly TailRow[]): boolean | Promise<boolean>;
  /** Resolves when everything has left this process, and is on disk if a run can resume from the file. */
  flush(): Promise<boolean>;
  /** Ends the output. Resolves when all work that must not be interrupted is done, however long it takes. */
  end?(): Promise<void>;
}

/** What the tail needs to know about the key. */
export interface KeyFacts {
  /** The CU left; null for a key without a limit. */
  readonly remaining: number | null;
  /** Whether the key's plan includes the live feed; null if unknown. */
  readonly live: boolean | null;
  readonly ratePerMinute: number | null;
  /** The rest of the user's budgets; absent if there are none. */
  readonly budgets?: readonly BudgetLeft[];
}

/** The rest of a budget. */
export interface BudgetLeft {
  /** What it limits: `day`, or `month`. */
  readonly period?: string | undefined;
  readonly left: number;
  /** Epoch milliseconds. */
  readonly renewsAt: number;
}

/** Stores rows of a long walk outside of memory. */
export interface Spool {
  /** Stores a text; the returned function reads it once. */
  put(text: string): Promise<() => Promise<string>>;
  close(): Promise<void>;
}

/** Everything that the tail needs from outside. */
export interface TailPorts {
  readonly clock: Clock;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  readonly source: PageSource;
  readonly connect?: Connect | undefined;
  readonly sink: TailSink;
  readonly key?: ((signal: AbortSignal) => Promise<KeyFacts>) | undefined;
  /** Replaces the checkpoint atomically. */
  readonly save?: ((text: string) => Promise<void>) | undefined;
  readonly spool?: (() => Spool) | undefined;
}
