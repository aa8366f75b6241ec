import type { View } from '../../../output/view.ts';
import { FileWriter } from '../../../tail/file/file-writer.ts';
import type { FollowedFile } from '../../../tail/file/followed-file.ts';
import { PrintWriter, type SharedTerminal } from '../../../tail/output/print-writer.ts';
import { printing, type RunWriter } from '../../../tail/output/run-writer.ts';
import type { Writer } from '../../../tail/ports.ts';
import type { PostFields } from '../../../tail/post-row.ts';
import type { Context } from '../../run/context.ts';
import { openSink } from '../../run/open-printer.ts';
import type { HandoffPlan } from '../exec/open-handoff.ts';

/** Where a run with a status line prints. */
interface PrintPlace {
  readonly terminal: SharedTerminal;
  /** The file that is followed when it is renamed or deleted; undefined for stdout or a pipe. */
  readonly file: FollowedFile | undefined;
  /** Whether the file contains posts, which are counted for its certificate. */
  readonly hasPosts: boolean;
}

/**
 * Opens what a run writes to: the command of --exec, otherwise a followed file, otherwise stdout or
 * a pipe. All sources write through it, so a further kind of output is one more branch.
 */
export async function openWriter(
  context: Context,
  plan: HandoffPlan,
  place?: PrintPlace,
): Promise<RunWriter<Writer>> {
  if (plan.flags.exec === undefined)
    return printing(await openPostPrinter(context, plan.view, place));
  const { openHandoff } = await import('../exec/open-handoff.ts');
  return openHandoff(context, plan);
}

/** Opens the printer of a run without a command. */
async function openPostPrinter(
  context: Context,
  view: View<PostFields>,
  place?: PrintPlace,
): Promise<PrintWriter> {
  const { out } = context;
  if (place === undefined) return new PrintWriter(await out.records(view));
  const { terminal, file, hasPosts } = place;
  if (file) {
    const printer = await out.records(view, false, file.sink);
    return new FileWriter(printer, terminal, file, hasPosts);
  }
  const isStdout = context.settings.flags.out === undefined;
  // The status line is hidden before each write, so that rows do not continue it.
  const sink = isStdout
    ? await openSink(context.terminal.io, undefined, out.diskWait, terminal.hide)
    : undefined;
  return new PrintWriter(await out.records(view, false, sink), terminal);
}
