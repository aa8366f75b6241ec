import { Failure } from '../base/failure.ts';
import { BUDGET } from '../contract/budget.ts';
import type { PollReason } from './spend/socket-share.ts';

/** The spending limit ended the run. */
export const ceilingReached = () =>
  new Failure('limit', 'stopped at the spending limit', {
    code: 'CEILING',
    hint: 'raise --max-cu',
  });

/** The start position cannot be found. */
export const hollowFeed = () =>
  new Failure('answer', 'the service reports posts but returns empty pages', { code: 'EMPTY_PAGES' });

/** The service did not answer before the end of the run. */
export const unanswered = () =>
  new Failure('network', 'the service did not answer before the end of the run', {
    code: 'UNANSWERED',
    retryable: true,
    hint: 'run it again, or see what is wrong with trdr doctor',
  });

/** The output was blocked at the end of the run. */
export const blockedAtEnd = () =>
  new Failure('local', 'the output accepted no more rows before the end of the run', { code: 'BLOCKED' });

/** The service closed the socket because the key has no units left. */
export const outOfUnits = (text: string) =>
  new Failure('quota', `the service closed the connection: ${text || 'the key has no units left'}`, {
    code: 'QUOTA_EXCEEDED',
    hint: 'see what is left and when it resets: trdr me',
  });

/** The service rejected the subscription. */
export const rejected = (text: string) =>
  new Failure('service', `the service rejected the subscription: ${text}`, { code: 'SUBSCRIPTION' });

/** `--via ws` was given, but the socket cannot be used. */
export const cannotStream = (why: PollReason) =>
  why === 'noSocket'
    ? new Failure('usage', 'this feed has no WebSocket', { code: 'USAGE', hint: 'remove --via' })
    : why === 'budget'
      ? new Failure('limit', 'the budget does not cover another minute of streaming', {
          code: BUDGET,
          hint: 'see what is left with "trdr budget show", or poll instead: --via poll',
        })
      : new Failure('limit', 'the spending limit does not cover another minute of streaming', {
          code: 'CEILING',
          hint: 'raise --max-cu, or poll instead: --via poll',
        });

/** Whether a run ended because the service did not deliver what was requested. */
export const isServiceFailure = (error: unknown): boolean =>
  error instanceof Failure && ['service', 'network', 'answer', 'rate'].includes(error.kind);
