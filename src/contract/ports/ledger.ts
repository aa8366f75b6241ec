import type { BudgetState } from '../budget.ts';

/**
 * The cost of a paid call, without the API key and the body; only the path of a raw call may name a
 * subject.
 */
export interface LedgerEntry {
  readonly time: number;
  readonly command: string;
  readonly profile: string;
  /** The name of the machine. */
  readonly host?: string | undefined;
  /** The agent that ran the command; absent if a person or a job did. */
  readonly agent?: string | undefined;
  readonly endpoint: string;
  /** Null if no response arrived. */
  readonly status: number | null;
  /** The CU that were certainly charged. */
  readonly cu: number;
  /** The CU that may have been charged in addition to `cu`. */
  readonly cuAtMost?: number | undefined;
  /** The wallet reveals that were certainly counted; absent in entries of earlier versions. */
  readonly reveals?: number | undefined;
  /** The reveals that may have been counted in addition. */
  readonly revealsAtMost?: number | undefined;
  /** Whether the price of the call is not known. */
  readonly unpriced?: boolean | undefined;
  readonly requestId?: string | undefined;
  /** The number of calls that the entry summarizes; 1 if absent. */
  readonly calls?: number | undefined;
}

export interface PaidCall {
  readonly endpoint: string;
  /** The maximum cost in CU; undefined if the price is not known. */
  readonly most: number | undefined;
  /** The wallets that it may reveal. */
  readonly reveals?: number | undefined;
}

export type CallCost = Pick<
  LedgerEntry,
  'status' | 'cu' | 'cuAtMost' | 'reveals' | 'revealsAtMost' | 'unpriced' | 'requestId'
>;

/**
 * Records a call with its maximum cost before it is sent, so that this amount stays recorded after
 * a crash.
 */
export interface Ledger {
  /**
   * Rejects with a `limit` Failure if a budget does not cover it; `retryAfter` is when the budget
   * renews.
   */
  begin(call: PaidCall, signal?: AbortSignal): Promise<Slot<Promise<void>>>;
  /** The budgets that limit the recorded calls; absent if the ledger has none. */
  budgets?(): Promise<readonly BudgetState[]>;
  /**
   * The limits of these budgets as a text, which is cheap to read every few seconds and differs
   * after each change.
   */
  limits?(): Promise<string>;
}

/**
 * The place of a call in the spending limit, the ledger, or both. After one of the three methods
 * was called, all of them do nothing.
 */
export interface Slot<Done = void> {
  /** The call was answered: its actual cost replaces its maximum cost. */
  settle(cost: CallCost): Done;
  /**
   * The call may have been charged, but its answer was lost: its maximum cost stays counted and
   * recorded.
   */
  lose(end?: Pick<CallCost, 'requestId'> & { readonly status?: number | null }): Done;
  /** The call was not sent, or is known to be free. */
  release(): Done;
}
