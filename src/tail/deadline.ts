import type { Clock } from '../base/clock.ts';
import type { Failure } from '../base/failure.ts';
import { blockedAtEnd, endTooEarly, unanswered } from './failures.ts';
import type { Flow } from './flow.ts';
import type { EndReason } from './notice.ts';
import type { TailWriter } from './output/writer.ts';
import type { Session } from './socket/session.ts';
import type { Timing } from './timing.ts';
import type { Walker } from './walk/walker.ts';

/**
 * Ends a run after its duration: closes the WebSocket, then performs a last walk, which may take at most
 * `closingMs`.
 */
export interface Deadline {
  start(): void;
  step(): void;
  readonly due: number;
}

interface DeadlineParts {
  readonly clock: Clock;
  readonly timing: Timing;
  readonly durationMs: number | undefined;
  readonly session: Session;
  readonly walker: Walker;
  readonly flow: Flow;
  readonly writer: TailWriter;
  readonly finish: (reason: EndReason, failure?: Failure) => void;
}

const never = Number.POSITIVE_INFINITY;

export function createDeadline({
  clock,
  timing,
  session,
  walker,
  flow,
  writer,
  ...parts
}: DeadlineParts): Deadline {
  let endsAt = never;
  let closingAt = never;
  let pagesBefore = 0;

  const step = () => {
    const now = clock.mono();
    if (now >= endsAt && !walker.finale) {
      session.close();
      walker.end();
      closingAt = now + timing.closingMs;
      pagesBefore = walker.pages;
    }
    const walked = walker.finale === 'done' && !flow.filling;
    if (walked && (!writer.busy() || now >= closingAt)) return parts.finish('duration');
    if (now < closingAt) return;
    // The last walk, or the printing of its rows, did not finish in time.
    const failure = writer.busy() ? blockedAtEnd : walker.pages > pagesBefore ? endTooEarly : unanswered;
    parts.finish('failure', walker.trouble ?? failure());
  };

  return {
    start() {
      if (parts.durationMs !== undefined) endsAt = clock.mono() + parts.durationMs;
    },
    step,
    get due() {
      return walker.finale ? closingAt : endsAt;
    },
  };
}
