import type { WriteStream } from 'node:tty';
import type { Progress } from '../output/terminal/progress.ts';
import { wantsColor, wantsUnicode } from '../output/terminal/style.ts';
import type { Context } from './context.ts';

const silent: Progress = { describe() {}, show() {}, stop() {} };

/** The progress line of a run, shown only if stderr is a terminal. */
export async function openProgress({ io, globals, settings }: Context, delayMs?: number): Promise<Progress> {
  if (io.stderr.isTTY !== true || globals.quiet) return silent;
  const { createProgress } = await import('../output/terminal/progress.ts');
  return createProgress({
    stream: io.stderr as WriteStream,
    color: wantsColor(globals.color, io.env, true, settings.color),
    unicode: wantsUnicode(io.env, io.platform),
    mono: io.clock.mono,
    ...(delayMs !== undefined && { delayMs }),
  });
}
