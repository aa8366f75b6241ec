import type { TailNotice } from '../../tail/notice.ts';
import { createNoticeLimit } from '../notice-limit.ts';
import { tailText } from './notice-text.ts';

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

/**
 * Converts the notices of a tail to lines and limits repeated ones; at the end, it reports how many were
 * suppressed.
 */
export function createNoticeLines(mono: () => number): (notice: TailNotice) => string[] {
  const limit = createNoticeLimit(mono, repeated);
  return (notice) => {
    const text = tailText(notice);
    const shown = text === undefined ? undefined : limit.show(notice.kind, text);
    return [...(notice.kind === 'end' ? limit.rest() : []), ...(shown === undefined ? [] : [shown])];
  };
}
