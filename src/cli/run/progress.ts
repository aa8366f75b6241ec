import type { WriteStream } from 'node:tty';
import { canRedraw, wantsUnicode } from '../../output/terminal/style.ts';
import { isOn } from '../agent.ts';
import type { Context } from './context.ts';

const silent = {
  describe(_text: string) {},
  show(_label: string, _done: number, _total: number | undefined) {},
  stop() {},
};

const DELAY_MS = 250;

/** The progress line of a run. It is shown only to a person: on a terminal that can redraw it, not with --quiet, and not in CI. */
export async function openProgress(context: Context, delayMs = DELAY_MS): Promise<typeof silent> {
  const { io } = context.terminal;
  const { flags } = context.settings;
  if (!canRedraw(io.stderr, io.env) || flags.quiet || isOn(io.env['CI'])) return silent;
  const { ProgressLine } = await import('../../output/terminal/progress.ts');
  const unicode = wantsUnicode(io.env, io.platform);
  const progress = new ProgressLine(io.stderr as WriteStream, unicode, io.clock.mono, delayMs);
  const forget = context.terminal.display({
    hide: () => progress.pause(),
    show: () => progress.resume(),
  });
  // A second Ctrl-C ends the process at once, and would leave the line in front of the prompt of the shell.
  const clear = () => progress.stop();
  io.atExit.add(clear);
  return {
    describe: (text) => progress.describe(text),
    show: (label, done, total) =>
      progress.show(label, { done, total, cu: context.bill.spent, pace: context.bill.pace }),
    stop() {
      forget();
      io.atExit.delete(clear);
      progress.stop();
    },
  };
}
