import { Failure } from '../base/failure.ts';
import { BUDGET } from '../contract/budget.ts';
import { UNITS_USED_UP } from '../core/client/service-errors.ts';
import { LONGEST_BLOCK_MS } from '../core/spend/rate-limiter.ts';
import type { PollReason } from './spend/stream-or-poll.ts';

export const ceilingReached = () =>
  new Failure('limit', 'stopped at the spending limit', {
    code: 'CEILING',
    hint: 'raise --max-cu',
  });

/** The failure of a feed in which no start position can be found. */
export const hollowFeed = () =>
  new Failure('answer', 'the service reports posts but returns empty pages', {
    code: 'EMPTY_PAGES',
    hint: 'run the command again later; the pages that were read have been charged',
  });

export const unanswered = () =>
  new Failure('network', 'the service did not answer before the end of the run', {
    code: 'UNANSWERED',
    retryable: true,
    hint: 'run the command again, or run "trdr doctor" to see what is wrong',
  });

/** The failure of a last walk for which the service sent pages, but not all of them in time. */
export const endTooEarly = () =>
  new Failure('network', 'the run ended before all pages of the feed were read', {
    code: 'UNANSWERED',
    retryable: true,
    hint: 'run the command again with a longer --duration',
  });

export const BLOCKED = 'BLOCKED';

export const blockedAtEnd = () =>
  new Failure('local', 'the output was blocked until the run ended', {
    code: BLOCKED,
    hint: 'check the program that reads the output; with --checkpoint FILE, the next run continues where this run stopped',
  });

/** The failure of a run whose WebSocket the service closed because the key has no units left. */
export const outOfUnits = (text: string) =>
  new Failure(
    'quota',
    `the service closed the connection: ${text || 'the key has no units left'}`,
    {
      code: 'QUOTA_EXCEEDED',
      hint: UNITS_USED_UP,
    },
  );

export const rejected = (text: string) =>
  new Failure('service', `the service rejected the subscription: ${text}`, {
    code: 'SUBSCRIPTION',
    hint: 'use --via poll, which needs no subscription',
  });

export const UNDELIVERED = 'the WebSocket delivered no post, although pages contained some';

/** The failure of `--via ws` if the WebSocket cannot be used. */
export function cannotStream(why: PollReason): Failure {
  if (why === 'asked')
    return new Failure('usage', 'this feed has no WebSocket', {
      code: 'USAGE',
      hint: 'remove --via',
    });
  if (why === 'socket')
    return new Failure('service', UNDELIVERED, {
      code: 'SUBSCRIPTION',
      hint: 'use --via poll, which needs no subscription',
    });
  if (why === 'budget')
    return new Failure('limit', 'the budget does not cover another minute of streaming', {
      code: BUDGET,
      hint: 'run "trdr budget show" to see what is left, or use polling: --via poll',
    });
  return new Failure('limit', 'the spending limit does not cover another minute of streaming', {
    code: 'CEILING',
    hint: 'raise --max-cu, or use polling: --via poll',
  });
}

/** The time in milliseconds that a failure asks to wait, bounded: see `LONGEST_BLOCK_MS`. */
export const waitAfter = ({ retryAfter = 0 }: Failure): number =>
  Math.min(retryAfter * 1_000, LONGEST_BLOCK_MS);
