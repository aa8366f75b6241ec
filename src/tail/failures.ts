import { Failure } from '../base/failure.ts';
import type { PollReason } from './spend/socket-share.ts';

/** The user's ceiling ends the run. */
export const ceilingReached = () =>
  new Failure('limit', 'The ceiling is reached.', { code: 'CEILING', hint: 'Allow more with --max-cu.' });

/** The start can't be found. */
export const hollowFeed = () =>
  new Failure('answer', 'The service says that there are posts, and shows none.', { code: 'EMPTY_PAGES' });

/** The run's time is up, and the service did not answer its last request. */
export const unanswered = () =>
  new Failure('network', 'the service did not answer before the end of the run', {
    code: 'UNANSWERED',
    retryable: true,
    hint: 'run it again, or see what is wrong with trdr doctor',
  });

/** The run's time is up, and the output takes nothing. */
export const blockedAtEnd = () =>
  new Failure('local', 'the output accepted no more rows before the end of the run', { code: 'BLOCKED' });

/** The service closed the socket for want of units. */
export const outOfUnits = (text: string) =>
  new Failure('quota', `The service closed the socket: ${text || 'the key has no units left'}.`, {
    code: 'QUOTA_EXCEEDED',
    hint: 'See what is left, and when it is renewed: trdr me',
  });

/** The service will not have the subscription. */
export const rejected = (text: string) =>
  new Failure('service', `The service rejected the subscription: ${text}`, { code: 'SUBSCRIPTION' });

/** The socket was asked for, and can't be had. */
export const cannotHold = (why: PollReason) =>
  why === 'noSocket'
    ? new Failure('usage', 'This feed has no socket.', { code: 'USAGE', hint: 'Leave --via out.' })
    : new Failure('limit', 'The ceiling does not hold another minute of the socket.', {
        code: 'CEILING',
        hint: 'Allow more with --max-cu, or use polls: --via poll',
      });
