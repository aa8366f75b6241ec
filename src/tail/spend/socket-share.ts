import { cu } from '../../contract/prices.ts';

export type Mode = 'ws' | 'poll';
export type Via = 'auto' | Mode;

/** Why a tail polls instead of using the WebSocket. */
export type PollReason =
  | 'asked' // --via poll is set
  | 'noSocket' // the feed has no WebSocket
  | 'plan' // the plan of the key does not include the live feed
  | 'refused' // the service rejected the connection
  | 'rejected' // the service rejected the subscription
  | 'ceiling' // the spending limit does not cover another minute
  | 'allowance' // the key's units do not cover another minute
  | 'budget' // a budget does not cover another minute
  | 'quota' // the service closed the WebSocket because the key has no units left
  | 'share' // the WebSocket has used its share of the units
  | 'unstable'; // several connections in a row ended within a minute, or delivered no posts

/** The facts on which the choice between WebSocket and polling depends. */
export interface SpendState {
  readonly via: Via;
  readonly hasSocket: boolean;
  readonly live: boolean | null;
  /** The CU left of the spending limit; null if there is no limit. */
  readonly ceilingLeft: number | null;
  /** The CU left of the key's allowance; null if unlimited or not known. */
  readonly allowanceLeft: number | null;
  /** Whether the user's budgets cover another minute. */
  readonly budgetsCover: boolean;
  /**
   * The CU that the key had left when the run started, or when its allowance last reset; null if unlimited or not
   * known.
   */
  readonly allowanceAtStart: number | null;
  /** The fraction of `allowanceAtStart` that the WebSocket may use, from 0 to 1. */
  readonly socketShare: number;
  /** The CU that the WebSocket has used since `allowanceAtStart` was determined. */
  readonly socketSpent: number;
  /**
   * The number of consecutive connections that ended within a minute, or delivered no posts although the feed
   * had some.
   */
  readonly shortSessions: number;
}

/**
 * The CU that the spending limit, the allowance and each budget must have left after paying for a minute of the
 * WebSocket. They are for the walks that fill gaps and verify the feed.
 */
export const WALK_RESERVE = 5 * cu.thesisBlock;
/**
 * The CU that a spending limit must have left for streaming. They cover one minute, the walks, and a second minute:
 * if trdr is killed, the service charges until it notices that.
 */
export const STREAM_RESERVE = 2 * cu.socketMinute + WALK_RESERVE;
/** If `shortSessions` reaches this number, the network counts as too unstable for streaming. */
const SHORT_SESSIONS = 3;

/**
 * Why the tail should poll; undefined if it should use the WebSocket. With `--via ws`, the only reasons are
 * a feed without a WebSocket, the spending limit and the budgets.
 */
export function reasonToPoll(state: SpendState): PollReason | undefined {
  const minute = cu.socketMinute + WALK_RESERVE;
  if (!state.hasSocket) return 'noSocket';
  if (state.via === 'poll') return 'asked';
  if (state.ceilingLeft !== null && state.ceilingLeft < STREAM_RESERVE) return 'ceiling';
  if (!state.budgetsCover) return 'budget';
  if (state.via === 'ws') return undefined;
  if (state.live === false) return 'plan';
  if (state.allowanceLeft !== null && state.allowanceLeft < minute) return 'allowance';
  const share = state.allowanceAtStart === null ? null : state.allowanceAtStart * state.socketShare;
  if (share !== null && state.socketSpent + cu.socketMinute > share) return 'share';
  if (state.shortSessions >= SHORT_SESSIONS) return 'unstable';
  return undefined;
}
