import { type Clock, createBackoff } from '../../base/clock.ts';
import type { Failure } from '../../base/failure.ts';
import type { Notice } from '../../contract/ports.ts';
import { MAX_WAIT_MS, SILENT_WAIT_MS } from '../spend/rate-limiter.ts';

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly failure: Failure;
      /** It was certainly not charged: it was never sent, or its response is documented as free. */
      readonly free: boolean;
      readonly value?: T | undefined;
    };

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 20_000;
const UNSTATED_WAIT_MS = 5_000;
/** If the service rounds a wait down to 0 s, trdr must not retry in a tight loop. */
const LEAST_WAIT_MS = 1_000;
/** Short waits that are not reported one by one are reported when their sum exceeds this. */
const BEARABLE_MS = 10_000;

export const waitOf = ({ retryAfter }: Failure): number =>
  retryAfter === undefined ? UNSTATED_WAIT_MS : Math.max(LEAST_WAIT_MS, Math.ceil(retryAfter * 1000));

/** After 429s, repeats a call until their waits exceed MAX_WAIT_MS together; else up to `retries` times. */
export async function withRetries<T>(
  attempt: (previous: Outcome<T> | undefined) => Promise<Outcome<T>>,
  mayRepeat: (failure: Failure, free: boolean) => boolean,
  retries: number,
  clock: Clock,
  random: () => number,
  notify: (notice: Notice) => void,
  signal?: AbortSignal,
): Promise<Outcome<T>> {
  const backoff = createBackoff(FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS, random);
  let failed = 0;
  let waited = 0;
  let silent = 0;
  let bearable = BEARABLE_MS;
  /** Consecutive short waits add up; report them at growing intervals. */
  const report = (notice: Extract<Notice, { readonly ms: number }>) => {
    silent += notice.ms;
    if (notice.ms <= SILENT_WAIT_MS && silent <= bearable) return;
    bearable = 4 * silent;
    notify(notice);
  };
  for (let previous: Outcome<T> | undefined; ; ) {
    const outcome = await attempt(previous);
    if (outcome.ok || outcome === previous) return outcome;
    const { failure, free } = outcome;
    if (!failure.retryable || !mayRepeat(failure, free)) return outcome;
    previous = outcome;
    const reason = `${failure.code}${failure.status === undefined ? '' : ` (${failure.status})`}`;
    let ms: number;
    if (failure.kind === 'rate') {
      ms = waitOf(failure);
      waited += ms;
      if (waited > MAX_WAIT_MS) return outcome;
      report({ kind: 'wait', ms, reason });
    } else {
      ms = Math.max(Math.round(backoff.next()), (failure.retryAfter ?? 0) * 1000);
      if (++failed > retries || ms > MAX_WAIT_MS) return outcome;
      report({ kind: 'retry', attempt: failed, of: retries, ms, reason });
    }
    await clock.sleep(ms, signal);
  }
}
