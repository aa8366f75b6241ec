import { Failure } from '../../base/failure.ts';
import type { RetryRule } from '../../contract/endpoint.ts';

/** How a call failed. Its answer is lost if the service may have charged it. */
export interface FailedCall {
  readonly failure: Pick<Failure, 'retryable'>;
  /** Whether it was certainly not charged. */
  readonly isFree: boolean;
  readonly rule: RetryRule;
  /** How many answers were lost in a row, with this one. */
  readonly lost: number;
  /** Whether the confirmed cost covers the repetition, beside the loss, which counts as spent. */
  readonly isCovered: boolean;
}

/**
 * `send` sends the same call again. `check` does so only after a cheaper call has shown that the
 * service neither charged nor kept what was asked for; a caller that cannot check it gives up.
 */
export type NextStep = 'send' | 'check' | 'give up';

/** Then the connection is too unreliable for more calls that may be charged twice. */
const LOST_LIMIT = 2;

/** The one rule by which a call is sent again in the same run. */
export function stepAfter(call: FailedCall): NextStep {
  const { failure, isFree, rule, isCovered } = call;
  if (isFree) return failure.retryable ? 'send' : 'give up';
  if (!isCovered || !failure.retryable) return 'give up';
  if (rule === 'repeat') return 'send';
  return isHopeless(call) ? 'give up' : 'check';
}

/**
 * Whether something between answered in place of the service, such as a firewall, or a server at a
 * wrong address. A gateway that cannot reach the service may reach it the next time.
 */
export const isForeign = ({ kind, status = 500 }: Pick<Failure, 'kind' | 'status'>): boolean =>
  (kind === 'service' || kind === 'answer') && status < 500;

/** Whether another answer that may be charged twice would probably be lost too. */
export const isHopeless = ({ failure, lost }: Pick<FailedCall, 'failure' | 'lost'>): boolean =>
  !failure.retryable || lost >= LOST_LIMIT;

/** Whether the answer of a call was lost; `cuLost` is then the most that it has cost. */
export const isLost = (error: unknown): error is Failure =>
  error instanceof Failure && error.cuLost > 0;
