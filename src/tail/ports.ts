import type { Clock } from '../base/clock.ts';
import type { Failure } from '../base/failure.ts';
import type { PostFields, TailRow } from './row.ts';

/** One page of the feed, newest first. */
export interface FeedPage {
  readonly rows: readonly TailRow[];
  readonly hasMore: boolean;
  readonly nextBefore: string | null;
  /** Posts without an id: nothing distinguishes them from others, so they are skipped and counted. */
  readonly nameless?: readonly PostFields[];
  /** What the page cost. */
  readonly cu: number;
}

/** Where pages come from: complete, ordered, walked by cursor. Throws `Failure`s. */
export interface PageSource {
  page(ask: { readonly before?: string; readonly limit: number }, signal: AbortSignal): Promise<FeedPage>;
  /** What its calls have cost so far, where it keeps the books itself: lost answers are known only to it. */
  readonly spent?: (() => { readonly cu: number; readonly atMost: number }) | undefined;
  /** What a page of `limit` rows costs. */
  price(limit: number): number;
  /** Rows of the smallest page worth asking for, and of the largest. */
  readonly sizes: { readonly step: number; readonly max: number };
}

/** Why a connection is over. */
export interface LinkEnd {
  readonly why: 'closed' | 'reset' | 'quota' | 'overflow';
  readonly text: string;
  /** Set where the service may not have heard of it, and counts on. */
  readonly unheard?: boolean;
  /** Why this machine ended it. */
  readonly failure?: Failure | undefined;
}

/** An open socket: frames wait in it, bounded in bytes, until they are taken. */
export interface Link {
  /** The next frame as it came, if one waits. */
  next(): Uint8Array | undefined;
  /** Bytes of the frames that wait. */
  readonly held: number;
  /** Grows with every ping, pong and frame. */
  readonly signs: number;
  /** Set when the connection is over; frames may still wait. */
  readonly end: LinkEnd | undefined;
  send(text: string): void;
  /** Asks for a sign of life. */
  ping?(): void;
  /** Takes leave; where it can be told, settles with whether the service heard of it and counts no further. */
  close(): Promise<boolean> | undefined;
}

/** Opens a socket; `stir` is called whenever something happened on it. Throws `Failure`s. */
export type Connect = (stir: () => void, signal: AbortSignal) => Promise<Link>;

/** Where rows go. `false` means that the reader closed its end, which is not a failure. */
export interface TailSink {
  /** Writes rows in order; a promise settles when there is room for more. */
  write(rows: readonly TailRow[]): boolean | Promise<boolean>;
  /** Settles when everything written is out of this process, and on disk where it is a file that is resumed from. */
  flush(): Promise<boolean>;
  /** No more rows follow. Settles when nothing is under way that must not be cut short, however long that takes. */
  end?(): Promise<void>;
}

/** What the tail needs to know of the key. */
export interface KeyFacts {
  /** CU left; null on a key without a cap. */
  readonly remaining: number | null;
  /** Whether the key's plan has the live feed; null where that cannot be told. */
  readonly live: boolean | null;
  readonly ratePerMinute: number | null;
  /** What is left of the budgets of the user; absent where there are none. */
  readonly budgets?: readonly BudgetLeft[];
}

/** What is left of a budget. */
export interface BudgetLeft {
  /** What it limits: `day`, or `month`. */
  readonly period?: string | undefined;
  readonly left: number;
  /** Epoch milliseconds. */
  readonly renewsAt: number;
}

/** Keeps rows of a long walk outside of memory. */
export interface Spool {
  /** Stores a text; the answer reads it back, once. */
  put(text: string): Promise<() => Promise<string>>;
  close(): Promise<void>;
}

/** Everything of the outside world that the tail touches. */
export interface TailPorts {
  readonly clock: Clock;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  readonly source: PageSource;
  readonly connect?: Connect | undefined;
  readonly sink: TailSink;
  readonly key?: ((signal: AbortSignal) => Promise<KeyFacts>) | undefined;
  /** Replaces the checkpoint as a whole, or leaves it as it was. */
  readonly save?: ((text: string) => Promise<void>) | undefined;
  readonly spool?: (() => Spool) | undefined;
}
