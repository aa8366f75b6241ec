import { cu } from '../../contract/endpoints.ts';

export type Mode = 'ws' | 'poll';
export type Via = 'auto' | Mode;

/** Why polls are used where the socket was asked for or could be. */
export type PollReason =
  | 'asked' // --via poll
  | 'noSocket' // the feed has none
  | 'plan' // the key's plan has no live feed
  | 'refused' // the service refused the socket
  | 'rejected' // the service rejected the subscription
  | 'ceiling' // the ceiling cannot hold another minute
  | 'allowance' // what is left cannot hold another minute
  | 'budget' // a budget does not cover it
  | 'share' // the socket has used its share
  | 'unstable'; // it broke again and again within its first minute

/** What the decision rests on. */
export interface SpendState {
  readonly via: Via;
  readonly hasSocket: boolean;
  readonly live: boolean | null;
  /** CU left under the ceiling, and under the key's allowance; null without a limit. */
  readonly ceilingLeft: number | null;
  readonly allowanceLeft: number | null;
  /** Whether the budgets of the user cover it. */
  readonly budgetsCover: boolean;
  /** The key's units when the run started, and the part of them that the socket may use. */
  readonly allowanceAtStart: number | null;
  readonly socketShare: number;
  readonly socketSpent: number;
  /** Sessions in a row that ended within their first minute. */
  readonly shortSessions: number;
}

/** What has to stay payable beside a minute of the socket: the walks that fill and confirm. */
export const WALK_RESERVE = 5 * cu.thesisBlock;
/** What a spending limit has to hold: a minute, and the one in which the service has not noticed yet that a connection is dead. */
export const STREAM_RESERVE = 2 * cu.socketMinute + WALK_RESERVE;
/** A third session of under a minute is a pattern. */
const SHORT_SESSIONS = 3;

/** Why the socket is not the way, or undefined where it is. `--via ws` is only held back by what cannot be paid. */
export function reasonToPoll(standing: SpendState): PollReason | undefined {
  const minute = cu.socketMinute + WALK_RESERVE;
  if (!standing.hasSocket) return 'noSocket';
  if (standing.via === 'poll') return 'asked';
  if (standing.ceilingLeft !== null && standing.ceilingLeft < STREAM_RESERVE) return 'ceiling';
  if (!standing.budgetsCover) return 'budget';
  if (standing.via === 'ws') return undefined;
  if (standing.live === false) return 'plan';
  if (standing.allowanceLeft !== null && standing.allowanceLeft < minute) return 'allowance';
  const share = standing.allowanceAtStart === null ? null : standing.allowanceAtStart * standing.socketShare;
  if (share !== null && standing.socketSpent + cu.socketMinute > share) return 'share';
  if (standing.shortSessions >= SHORT_SESSIONS) return 'unstable';
  return undefined;
}
