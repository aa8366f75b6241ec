import type { WriteStream } from 'node:tty';
import { canRedraw, wantsUnicode } from '../../output/terminal/style.ts';
import type { Context } from '../run/context.ts';

const silent = {
  describe(_text: string) {},
  show(_label: string, _done: number, _total: number | undefined) {},
  stop() {},
};

/** The progress line of a run. It is shown only if stderr is a terminal that can redraw it, and not with --quiet. */
export async function openProgress(context: Context, delayMs?: number): Promise<typeof silent> {
  const { io } = context.terminal;
  const { flags } = context.settings;
  if (!canRedraw(io.stderr, io.env) || flags.quiet) return silent;
  const { createProgress } = await import('../../output/terminal/status-line.ts');
  const unicode = wantsUnicode(io.env, io.platform);
  const progress = createProgress(io.stderr as WriteStream, unicode, io.clock.mono, delayMs);
  const forget = context.terminal.display({ hide: progress.pause, show: progress.resume });
  return {
    describe: progress.describe,
    show: (label, done, total) =>
      progress.show(label, { done, total, cu: context.bill.spent, pace: context.bill.pace }),
    stop() {
      forget();
      progress.stop();
    },
  };
}
