import type { TailNotice } from '../../tail/notice.ts';
import { createNoticeLimit } from '../output/notice-limit.ts';
import { tailText } from './notice-text.ts';

/** Notices that a failing service can cause without end. */
const repeated: ReadonlySet<TailNotice['kind']> = new Set<TailNotice['kind']>([
  'frame',
  'nameless',
  'down',
  'wait',
  'unstable',
  'caughtUp',
]);

/** Formats the notices of a tail, and limits repeated ones. At the end, sums up those that were not shown. */
export function createNoticeLines(mono: () => number): (notice: TailNotice) => string[] {
  const limit = createNoticeLimit(mono, repeated);
  return (notice) => {
    const text = tailText(notice);
    const shown = text === undefined ? undefined : limit.show(notice.kind, text);
    return [...(notice.kind === 'end' ? limit.rest() : []), ...(shown === undefined ? [] : [shown])];
  };
}
