import type { Tail } from '../../../tail/engine.ts';
import type { HandoffHealth } from '../../../tail/exec/handoff-meter.ts';
import { handoffStateText } from '../exec/handoff-text.ts';
import { deliveredText, statusText } from '../notice-text.ts';
import type { Watched } from './watch.ts';

/** The state of a tail for the health watch. */
export function watchedTail(
  tail: Tail,
  now: () => number,
  handoff: (() => HandoffHealth) | undefined,
): Watched {
  return {
    facts: () => ({ ...tail.status(), handoff: handoff?.() ?? null }),
    turns: () => tail.status().turns,
    wake: tail.wake,
    text() {
      const status = tail.status();
      const parts = [
        deliveredText(status.rows, status.lastPost, now()),
        statusText(status),
        handoff ? handoffStateText(handoff(), now()) : '',
      ];
      return parts.filter((part) => part !== '').join(' · ');
    },
  };
}
