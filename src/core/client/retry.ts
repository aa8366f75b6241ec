import type { Clock } from '../../base/clock.ts';
import type { Failure } from '../../base/failure.ts';
import type { RetryRule } from '../../contract/endpoint.ts';
import type { Notice } from '../../contract/ports.ts';
import { SILENT_WAIT_MS } from './limiter.ts';

/** How one attempt ended. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly failure: Failure;
      /** The attempt cannot have been charged: it never left, or its answer says so. */
      readonly free: boolean;
      /** The answer as it came, where one came. */
      readonly value?: T | undefined;
    };

export interface RetryOptions {
  readonly rule: RetryRule;
  /** Whether an attempt that may have been charged can be paid for a second time. */
  readonly mayPayAgain: () => boolean;
  /** How often a failed attempt is made again. Waits for a 429 do not count. */
  readonly retries: number;
  /** The most that is waited for 429s, over all attempts. */
  readonly maxWaitMs: number;
  readonly clock: Clock;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  readonly notify?: ((notice: Notice) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const RETRIES = 4;
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 20_000;
/** Waited for a 429 that does not say how long. */
const UNSTATED_WAIT_MS = 5_000;

/** What short waits may come to before a word is said of them. */
const BEARABLE_MS = 10_000;

/** Whether making the attempt again can help, and cannot charge twice for what must not be. */
function mayRepeat(failure: Failure, free: boolean, rule: RetryRule): boolean {
  return failure.retryable && (free || rule === 'repeat');
}

/** The wait before retry number `attempt` (from 1), with full jitter: nobody comes back in step. */
function backoffMs(attempt: number, random: number): number {
  return Math.round(random * Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attempt - 1)));
}

/** Waited at the least: a service that rounds its seconds down to none would be asked without end. */
const LEAST_WAIT_MS = 1_000;

/** What a 429 asks to wait. */
export const waitOf = ({ retryAfter }: Failure): number =>
  retryAfter === undefined ? UNSTATED_WAIT_MS : Math.max(LEAST_WAIT_MS, Math.ceil(retryAfter * 1000));

/** Makes attempts until one succeeds, none may follow, or the waits allowed are used up. */
export async function withRetries<T>(
  attempt: (previous: Outcome<T> | undefined) => Promise<Outcome<T>>,
  options: RetryOptions,
): Promise<Outcome<T>> {
  const { clock, notify, retries, signal } = options;
  let failed = 0;
  let waited = 0;
  let silent = 0;
  let bearable = BEARABLE_MS;
  /** Short waits, one after another, make a long one; they are said ever more seldom. */
  const tell = (notice: Extract<Notice, { readonly ms: number }>) => {
    silent += notice.ms;
    if (notice.ms <= SILENT_WAIT_MS && silent <= bearable) return;
    bearable = 4 * silent;
    notify?.(notice);
  };
  let previous: Outcome<T> | undefined;
  for (;;) {
    const outcome = await attempt(previous);
    if (outcome.ok) return outcome;
    const { failure, free } = outcome;
    if (outcome === previous || !mayRepeat(failure, free, options.rule)) return outcome;
    if (!free && !options.mayPayAgain()) return outcome;
    previous = outcome;
    const reason = `${failure.code}${failure.status === undefined ? '' : ` (${failure.status})`}`;
    let ms: number;
    if (failure.kind === 'rate') {
      ms = waitOf(failure);
      waited += ms;
      if (waited > options.maxWaitMs) return outcome;
      tell({ kind: 'wait', ms, reason });
    } else {
      failed++;
      if (failed > retries) return outcome;
      ms = Math.max(backoffMs(failed, options.random()), (failure.retryAfter ?? 0) * 1000);
      if (ms > options.maxWaitMs) return outcome;
      tell({ kind: 'retry', attempt: failed, of: retries, ms, reason });
    }
    await clock.sleep(ms, signal);
  }
}
