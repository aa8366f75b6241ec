import { createBackoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import type { Failure } from '../../base/failure.ts';
import type { RetryRule } from '../../contract/endpoint.ts';
import type { Notice } from '../../contract/ports.ts';
import { SILENT_WAIT_MS } from '../spend/rate-limiter.ts';

/** The result of one attempt. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly failure: Failure;
      /**
       * Whether the attempt was certainly not charged, for example because it was never sent, or because its
       * response is documented as free.
       */
      readonly free: boolean;
      /** The response; absent if none arrived. */
      readonly value?: T | undefined;
    };

interface RetryOptions {
  readonly rule: RetryRule;
  /** Whether the run may pay again for an attempt that may have been charged. */
  readonly mayPayAgain: () => boolean;
  /** The maximum number of retries. Retries after a 429 do not count. */
  readonly retries: number;
  /** The maximum total of the waits after 429s, and the maximum of any other wait before a retry. */
  readonly maxWaitMs: number;
  readonly clock: Clock;
  /** Returns a number in the range [0, 1). */
  readonly random: () => number;
  readonly notify?: ((notice: Notice) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const RETRIES = 4;
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 20_000;
/** The wait after a 429 without Retry-After. */
const UNSTATED_WAIT_MS = 5_000;

/** Short waits that are not reported one by one are reported when their sum exceeds this time. */
const BEARABLE_MS = 10_000;

/**
 * Whether a retry can help and is allowed. If a call must not be charged twice, it is retried only when the
 * attempt was certainly not charged.
 */
function mayRepeat(failure: Failure, free: boolean, rule: RetryRule): boolean {
  return failure.retryable && (free || rule === 'repeat');
}

/** The shortest wait after a 429: if the service rounds a wait down to 0 s, trdr must not retry in a tight loop. */
const LEAST_WAIT_MS = 1_000;

/** The wait that a 429 requests. */
export const waitOf = ({ retryAfter }: Failure): number =>
  retryAfter === undefined ? UNSTATED_WAIT_MS : Math.max(LEAST_WAIT_MS, Math.ceil(retryAfter * 1000));

/**
 * Repeats a call until an attempt succeeds, a retry is not allowed, or the maximum number of retries or the
 * maximum wait is reached.
 */
export async function withRetries<T>(
  attempt: (previous: Outcome<T> | undefined) => Promise<Outcome<T>>,
  options: RetryOptions,
): Promise<Outcome<T>> {
  const { clock, notify, retries, signal } = options;
  const backoff = createBackoff(FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS, options.random);
  let failed = 0;
  let waited = 0;
  let silent = 0;
  let bearable = BEARABLE_MS;
  /** Consecutive short waits add up; report them at growing intervals. */
  const report = (notice: Extract<Notice, { readonly ms: number }>) => {
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
      report({ kind: 'wait', ms, reason });
    } else {
      failed++;
      if (failed > retries) return outcome;
      ms = Math.max(Math.round(backoff.next()), (failure.retryAfter ?? 0) * 1000);
      if (ms > options.maxWaitMs) return outcome;
      report({ kind: 'retry', attempt: failed, of: retries, ms, reason });
    }
    await clock.sleep(ms, signal);
  }
}
