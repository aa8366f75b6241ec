import type { Clock } from '../base/clock.ts';
import type { Failure } from '../base/failure.ts';
import type { Subscription } from '../contract/frames.ts';
import type { Remainder } from '../contract/ports/client.ts';
import type { PageSource } from '../core/pages/source.ts';
import type { TailNotice } from './notice.ts';
import type { FilePlace, Position } from './position.ts';
import type { TailRow } from './post-row.ts';
import type { TailCost, Via } from './spend/stream-or-poll.ts';
import type { Timing } from './timing.ts';

/** The feeds of several authors, which a walk may read in place of the feed with all posts. */
export interface OwnFeeds {
  readonly sources: readonly PageSource[];
  /** They are read if the feed with all posts would take more pages. */
  readonly mostPages: number;
}

export interface LinkEnd {
  readonly why: 'closed' | 'reset' | 'quota' | 'overflow';
  readonly text: string;
  /** Whether the service may have missed the end of the connection, and may still charge for it. */
  readonly unconfirmed?: boolean;
  readonly failure?: Failure | undefined;
}

export interface Link {
  next(): Uint8Array | undefined;
  readonly held: number;
  /** The number of pings, pongs and frames that were received. */
  readonly signs: number;
  /**
   * Why the connection ended; undefined while it is open. The queue may still contain frames after
   * the end.
   */
  readonly end: LinkEnd | undefined;
  send(text: string): void;
  ping?(): void;
  /**
   * Resolves to whether the service confirmed the close and stopped charging; undefined if this is
   * not known.
   */
  close(): Promise<boolean> | undefined;
}

/** Opens a WebSocket; calls `onChange` after each event. Throws `Failure`s. */
export type Connect = (onChange: () => void, signal: AbortSignal) => Promise<Link>;

/**
 * Where the rows of a run go: stdout, a file, a command. `write` and `flush` return `false` when
 * the reader has closed the output, which is not a failure.
 */
export interface Writer {
  write(rows: readonly TailRow[]): boolean | Promise<boolean>;
  /** Resolves when all rows have left this process, or are on disk. */
  flush(): Promise<boolean>;
  /** Where the next row goes, if the output is a file from which a later run can continue. */
  place?(): FilePlace;
  /**
   * The returned function counts acknowledged rows. Without it, rows count as delivered when
   * `flush` resolves.
   */
  delivered?(onChange: () => void): () => number;
  /** The number of rows that `write` has accepted and that have not left this process yet. */
  pending?(): number;
  /**
   * Ends the output. Resolves when work that must not be interrupted is done, however long this
   * takes.
   */
  end?(): Promise<void>;
}

/** Passes on some of the posts, or the records that they make, in place of all posts. */
export interface OutputStages {
  /** The records of these posts, in their order. A post makes at most one. */
  pass(posts: readonly TailRow[]): readonly TailRow[];
  /** How many records may still be passed on. */
  readonly left: number;
  /** How many records were passed on. */
  readonly passed: number;
  /** How many records were held back. */
  readonly held: number;
  /** What a later run needs to continue. */
  state(): string;
}

/** What the output of a run consists of. */
export interface OutputPorts {
  readonly writer: Writer;
  /**
   * Replaces posts by the records that are printed. A position then covers only rows that were
   * delivered.
   */
  readonly stages?: OutputStages | undefined;
  /** Undefined if no later run can continue. */
  readonly save?: ((position: Position) => Promise<void>) | undefined;
  /**
   * Waits while a disk is full, and the run pays for nothing; after `close`, a full disk is a
   * failure.
   */
  readonly disk?: FullDisk | undefined;
}

export interface FullDisk {
  /** Resolves when the disk has space again; undefined if it is not full. */
  wait(): Promise<void> | undefined;
  close(): void;
}

export interface KeyFacts {
  readonly live: boolean | null;
  readonly ratePerMinute: number | null;
}

export interface Spool {
  /** Stores a text. The returned function reads the text, and can be called only once. */
  put(text: string): Promise<() => Promise<string>>;
  close(): Promise<void>;
}

export interface TailPorts {
  readonly clock: Clock;
  readonly random: () => number;
  readonly source: PageSource;
  readonly own?: OwnFeeds | undefined;
  readonly connect?: Connect | undefined;
  readonly output: OutputPorts;
  readonly left?: Pick<Remainder, 'key' | 'budgets'> | undefined;
  readonly key?: ((signal: AbortSignal) => Promise<KeyFacts>) | undefined;
  /**
   * The limits of the budgets as a text, which is cheap to read every few seconds and differs after
   * each change.
   */
  readonly limits?: (() => Promise<string>) | undefined;
  /** The failure of the last attempt of a request; undefined after an answer. */
  readonly trouble?: (() => Failure | undefined) | undefined;
  readonly spent: () => TailCost;
  readonly spool?: (() => Spool) | undefined;
}

export type StartPoint =
  /**
   * A start at the newest post. Up to `recent` posts of the first page are printed too, which costs
   * nothing.
   */
  | { readonly kind: 'now'; readonly recent?: number }
  | { readonly kind: 'backfill'; readonly rows: number }
  | { readonly kind: 'since'; readonly at: number }
  | { readonly kind: 'position'; readonly position: Position };

export interface TailOptions {
  readonly start: StartPoint;
  readonly via: Via;
  /**
   * Whether `auto` means the cheapest way that keeps the lag. Otherwise, no post may come later
   * than the WebSocket delivers it.
   */
  readonly cheapest?: boolean | undefined;
  readonly lagMs: number;
  readonly subscription?: Subscription | undefined;
  /**
   * Whether the WebSocket delivers a post that appears in pages; by default, it delivers all posts.
   */
  readonly carries?: ((row: TailRow) => boolean) | undefined;
  /**
   * Whether the post of a frame also appears in the pages that are read; by default, all posts do.
   */
  readonly scope?: ((row: TailRow) => boolean) | undefined;
  readonly filter?: ((row: TailRow) => boolean) | undefined;
  readonly count?: number | undefined;
  /** The number of failed requests for the first page after which the run fails; 2 by default. */
  readonly firstTries?: number;
  readonly durationMs?: number | undefined;
  readonly noFollow?: boolean | undefined;
  /** What the run may still spend by its own limit; null if it has none, or can ask for more. */
  readonly limitLeft?: (() => number | null) | undefined;
  /**
   * If a budget or the allowance is used up, whether the tail waits until it renews instead of
   * ending.
   */
  readonly waitForBudget?: boolean | undefined;
  /**
   * The fraction of the key's units that the WebSocket may use with `--via auto`, from 0 to 1; by
   * default, 1.
   */
  readonly socketShare?: number | undefined;
  readonly feed: string;
  readonly on?: ((notice: TailNotice) => void) | undefined;
  readonly timing?: Partial<Timing> | undefined;
}
