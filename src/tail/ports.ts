import type { Clock } from '../base/clock.ts';
import type { Failure } from '../base/failure.ts';
import type { PostFields, TailRow } from './row.ts';

/** One page of the feed, newest first. */
export interface FeedPage {
  readonly rows: readonly TailRow[];
  readonly hasMore: boolean;
  readonly nextBefore: string | null;
  /**
   * Posts without an id. Their repetitions cannot be recognized, so such posts are counted but not printed.
   */
  readonly nameless?: readonly PostFields[];
  /** The cost of the page. */
  readonly cu: number;
}

/** A source of the pages of a feed. Throws `Failure`s. */
export interface PageSource {
  page(ask: { readonly before?: string; readonly limit: number }, signal: AbortSignal): Promise<FeedPage>;
  /**
   * The CU of all calls so far. `atMost` includes the possible cost of calls whose answers were lost. Absent if the
   * source does not count the cost.
   */
  readonly spent?: (() => { readonly cu: number; readonly atMost: number }) | undefined;
  /** The price of a page of `limit` rows, in CU. */
  price(limit: number): number;
  /** The number of rows of the smallest page that is worth requesting, and of the largest page. */
  readonly sizes: { readonly step: number; readonly max: number };
}

/** Why a connection has ended. */
export interface LinkEnd {
  readonly why: 'closed' | 'reset' | 'quota' | 'overflow';
  readonly text: string;
  /** Whether the service may have missed the end of the connection, and may still charge for it. */
  readonly unconfirmed?: boolean;
  /** The failure that made this machine close the connection. */
  readonly failure?: Failure | undefined;
}

/** An open WebSocket with a bounded queue of frames. */
export interface Link {
  /** Removes and returns the next frame of the queue. */
  next(): Uint8Array | undefined;
  /** The size of the queued frames in bytes. */
  readonly held: number;
  /** The number of pings, pongs and frames that were received. */
  readonly signs: number;
  /**
   * Why the connection ended; undefined while it is open. The queue may still contain frames after the end.
   */
  readonly end: LinkEnd | undefined;
  send(text: string): void;
  /** Sends a ping. */
  ping?(): void;
  /**
   * Closes the connection. Resolves to whether the service confirmed the close and stopped charging. Returns
   * undefined if this cannot be determined.
   */
  close(): Promise<boolean> | undefined;
}

/** Opens a WebSocket; calls `onChange` after each event. Throws `Failure`s. */
export type Connect = (onChange: () => void, signal: AbortSignal) => Promise<Link>;

/**
 * The output for rows. The result of `write` and `flush` is `false` when the reader has closed the output, which
 * is not a failure.
 */
export interface TailSink {
  /** Writes rows in order. Returns a promise if the caller must wait before it writes more. */
  write(rows: readonly TailRow[]): boolean | Promise<boolean>;
  /**
   * Resolves when all rows have left this process. If a run can resume from the file, the rows are then also
   * on disk. With `isLast`, no more rows follow, so rows must not wait for others.
   */
  flush(isLast?: boolean): Promise<boolean>;
  /**
   * Resolves when rows can be written again; undefined if the output does not wait for a full disk. Meanwhile, the tail
   * pays for nothing.
   */
  waits?(): Promise<void> | undefined;
  /** The number of rows that `write` has accepted and that have not left this process yet. */
  pending?(): number;
  /** Ends the output. Resolves when work that must not be interrupted is done, however long this takes. */
  end?(): Promise<void>;
}

/** Facts about the API key. */
export interface KeyFacts {
  /** The CU left; null for an unlimited key. */
  readonly remaining: number | null;
  /** Whether the key's plan includes the live feed; null if not known. */
  readonly live: boolean | null;
  readonly ratePerMinute: number | null;
  /** What the user's budgets have left; absent if there are no budgets. */
  readonly budgets?: readonly BudgetLeft[];
}

/** What a budget has left. */
export interface BudgetLeft {
  /** The period of the budget: `day` or `month`. */
  readonly period?: string | undefined;
  /** The CU left. */
  readonly left: number;
  /** Epoch milliseconds. */
  readonly renewsAt: number;
}

/** Temporary storage on disk for the rows of a long walk. */
export interface Spool {
  /** Stores a text. The returned function reads the text, and can be called only once. */
  put(text: string): Promise<() => Promise<string>>;
  close(): Promise<void>;
}

/** What a tail needs from outside: clock, network, output and files. */
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
