import { cu } from '../../contract/prices.ts';

export type Mode = 'ws' | 'poll';
export type Via = 'auto' | Mode;

/** Why a tail polls instead of using the socket. */
export type PollReason =
  | 'asked' // --via poll
  | 'noSocket' // the feed has none
  | 'plan' // the key's plan has no live feed
  | 'refused' // the service refused the socket
  | 'rejected' // the service rejected the subscription
  | 'ceiling' // the spending limit does not cover another minute
  | 'allowance' // the allowance does not cover another minute
  | 'budget' // a budget does not cover it
  | 'quota' // the service closed it because the key has no units left
  | 'share' // the socket has used its share
  | 'unstable'; // it failed several times within a minute

/** The state that the decision depends on. */
export interface SpendState {
  readonly via: Via;
  readonly hasSocket: boolean;
  readonly live: boolean | null;
  /** The CU left of the spending limit and of the key's allowance; null without a limit. */
  readonly ceilingLeft: number | null;
  readonly allowanceLeft: number | null;
  /** Whether the budgets of the user cover it. */
  readonly budgetsCover: boolean;
  /** The CU left on the key when the run started, and the share of them that the socket may use. */
  readonly allowanceAtStart: number | null;
  readonly socketShare: number;
  readonly socketSpent: number;
  /** The number of sessions in a row that ended within a minute. */
  readonly shortSessions: number;
}

/** The CU that must remain in addition to a minute of the socket, for the walks that fill gaps and confirm. */
export const WALK_RESERVE = 5 * cu.thesisBlock;
/** What a spending limit must cover: one minute, and another before the service notices a dead connection. */
export const STREAM_RESERVE = 2 * cu.socketMinute + WALK_RESERVE;
/** The number of short sessions after which the socket counts as unstable. */
const SHORT_SESSIONS = 3;

/** Why the tail should poll; undefined if it should use the socket. `--via ws` is only overridden by the spending limit. */
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
