import type { WriteStream } from 'node:tty';
import type { Progress } from '../output/terminal/progress.ts';
import { wantsColor, wantsUnicode } from '../output/terminal/style.ts';
import type { Context } from './context.ts';

const silent: Progress = { describe() {}, show() {}, pause() {}, resume() {}, stop() {} };

/** The progress line of a run. It is shown only if stderr is a terminal. */
export async function openProgress(context: Context, delayMs?: number): Promise<Progress> {
  const { io, globals, settings } = context;
  if (io.stderr.isTTY !== true || globals.quiet) return silent;
  const { createProgress } = await import('../output/terminal/progress.ts');
  const progress = createProgress({
    stream: io.stderr as WriteStream,
    color: wantsColor(globals.color, io.env, true, settings.color),
    unicode: wantsUnicode(io.env, io.platform),
    mono: io.clock.mono,
    ...(delayMs !== undefined && { delayMs }),
  });
  const forget = context.display({ hide: progress.pause, show: progress.resume });
  return {
    ...progress,
    stop() {
      forget();
      progress.stop();
    },
  };
}
