import type { HandoffNotice } from '../../tail/exec/batch.ts';
import type { TailNotice } from '../../tail/notice.ts';

type NoticeKind = TailNotice['kind'] | HandoffNotice['kind'];

/** Notices that a failing service or command can repeat indefinitely. */
const repeated: ReadonlySet<NoticeKind> = new Set<NoticeKind>([
  'frame',
  'nameless',
  'down',
  'wait',
  'unstable',
  'caughtUp',
  'unproven',
  'unacknowledged',
  'failed',
  'recovered',
]);
/** Shown this often before a kind is limited; then the pause between two doubles, up to an hour. */
const FIRST = 5;
const PAUSE_MS = 60_000;
const LONGEST_MS = 3_600_000;

/** Limits how often a kind of notice is shown: returns the text to show, or undefined. */
export function createNoticeLimit(mono: () => number) {
  const kinds = new Map<string, { shown: number; held: number; next: number; pause: number }>();
  return (kind: NoticeKind, text: string): string | undefined => {
    if (!repeated.has(kind)) return text;
    const state = kinds.get(kind) ?? { shown: 0, held: 0, next: 0, pause: PAUSE_MS };
    kinds.set(kind, state);
    const now = mono();
    if (state.shown >= FIRST && now < state.next) {
      state.held++;
      return undefined;
    }
    state.shown++;
    const more = state.held === 0 ? '' : ` (and ${state.held} more like this)`;
    state.held = 0;
    if (state.shown >= FIRST) {
      // After a quiet time as long as the pause, the count starts again.
      if (now > state.next + state.pause && state.shown > FIRST) state.pause = PAUSE_MS;
      state.next = now + state.pause;
      state.pause = Math.min(LONGEST_MS, state.pause * 2);
    }
    return `${text}${more}`;
  };
}
