import type { TailNotice } from '../../tail/notice.ts';
import { createNoticeLimit } from '../notice-limit.ts';
import { tailText } from './messages.ts';

/** Notices that a failing service can repeat indefinitely. */
const repeated: ReadonlySet<TailNotice['kind']> = new Set<TailNotice['kind']>([
  'frame',
  'nameless',
  'down',
  'wait',
  'unstable',
  'caughtUp',
  'unproven',
  'unacknowledged',
]);

/** Turns the notices of one tail into lines, and limits those that repeat; at the end it says how many were left out. */
export function createNoticeLines(mono: () => number): (notice: TailNotice) => string[] {
  const limit = createNoticeLimit(mono, repeated);
  return (notice) => {
    const text = tailText(notice);
    const shown = text === undefined ? undefined : limit.show(notice.kind, text);
    return [...(notice.kind === 'end' ? limit.rest() : []), ...(shown === undefined ? [] : [shown])];
  };
}
