import type { View } from '../../../output/view.ts';
import type { Filters } from '../../../tail/certificate.ts';
import { Confluence, type ConfluenceFields, confluenceName } from '../../../tail/confluence.ts';
import type { TailPorts, TailSink } from '../../../tail/ports.ts';
import type { Position } from '../../../tail/position.ts';
import type { PostFields } from '../../../tail/post-row.ts';
import type { Context } from '../../context.ts';
import { openSink } from '../../output/output.ts';
import { certify, type Resumed, resumeLines } from '../certify.ts';
import type { TailFlags } from '../flags.ts';
import { cutBehind, positionPath, readStart, savePosition, type TailFiles } from '../position-file.ts';
import { confluentSink } from './confluence-sink.ts';
import { openOutputFile } from './output-file.ts';
import { printTo, type TailOutput } from './writer.ts';

/** What a run prints, and how. */
export interface OutputPlan {
  readonly flags: TailFlags;
  readonly view: View<PostFields>;
  readonly timeField: string;
  /** The fields that decide about confluences. */
  readonly fields: ConfluenceFields;
  /** The name of the feed, without its service. */
  readonly feed: string;
  /** The filters, by the names of their flags. */
  readonly filters?: Filters | undefined;
}

/** Where an earlier run stopped, and what its file contains. */
export interface ResumedOutput extends Partial<Resumed> {
  /** The name of the feed in positions. */
  readonly feed: string;
}

/** The service of a feed, in the names of feeds. */
export const serviceOf = ({ scope }: Pick<Context, 'scope'>): string => scope?.baseUrl ?? 'a service';

/** Finds out where the run continues. */
export function resumeOutput(
  context: Context,
  files: TailFiles,
  { feed: name, flags: { confluence }, timeField, filters = {} }: OutputPlan,
): ResumedOutput {
  const feed = `${name}${confluenceName(confluence)} of ${serviceOf(context)}`;
  const reading = { ...files, feed, timeField, notice: context.notice };
  if (confluence) cutBehind(reading);
  const position = readStart(reading);
  return files.out === undefined
    ? { feed, position }
    : { feed, ...resumeLines(files.out, position, filters) };
}

/** The output of a run: stdout, a pipe, a file or a command. */
export interface OpenedOutput extends TailOutput {
  /** Saves a position, and with it the certificate of the file. */
  readonly save: TailPorts['save'];
  /** Whether a question is open on the terminal. */
  isPaused(): boolean;
}

/** `hide` hides the status line; `moved` is called when the output continues in another file. */
interface OutputHooks {
  readonly hide: () => void;
  readonly moved: () => void;
  /** Up to which post time the feed is verified. */
  readonly verified: () => number | null;
}

export async function openOutput(
  context: Context,
  plan: OutputPlan,
  files: TailFiles,
  { feed, position, place }: ResumedOutput,
  { hide, moved, verified }: OutputHooks,
): Promise<OpenedOutput> {
  const { io, globals, diskWait } = context;
  const { flags, view, timeField, fields, filters = {} } = plan;
  const { out, checkpoint } = files;
  const { confluence } = flags;
  /** The last position that was saved: of all rows that it covers, none is in a later file. */
  let last = position;
  const followed =
    out === undefined
      ? undefined
      : await openOutputFile(
          context,
          out,
          {
            ...{ rule: flags.rotate, timeField, from: place },
            certify: (path, lines) => last && certify(path, last, lines),
          },
          moved,
        );
  const pause = createPause(context, hide);
  // The status line is hidden before each write, so that rows do not continue it.
  const toStdout = () => (globals.out === undefined ? openSink(io, undefined, diskWait, hide) : undefined);
  const output: TailOutput =
    flags.exec === undefined
      ? printTo(await context.records(view, false, followed?.sink ?? (await toStdout())), hide, pause.wait)
      : await (await import('../exec/open.ts')).openHandoff(context, { view, flags, checkpoint, feed });
  const inner = confluence
    ? confluentSink(output.sink, new Confluence(confluence, fields, position?.state, verified), flags.count)
    : output.sink;
  const sink: TailSink = {
    ...inner,
    ...(followed && {
      place() {
        const { lines, offset, ...file } = followed.place();
        // A file of confluences has no certificate, because its lines are not posts.
        return confluence ? { ...file, offset: offset + followed.waiting() } : { ...file, offset, lines };
      },
      write(rows) {
        for (const { at } of rows) followed.saw(at);
        return inner.write(rows);
      },
    }),
    waits: diskWait.wait,
    async end() {
      diskWait.close();
      await inner.end?.();
    },
  };
  const saved = positionPath(files);
  const save = (path: string, taken: Position) => {
    last = { ...taken, filters };
    savePosition(path, last);
    // With --checkpoint, the position is elsewhere.
    if (out !== undefined && checkpoint !== undefined && last.file) certify(out, last, last.file);
  };
  return {
    ...output,
    sink,
    save: saved === undefined ? undefined : (taken) => diskWait.retry(saved, () => save(saved, taken)),
    isPaused: () => pause.isOpen,
    async close() {
      pause.end();
      await followed?.end();
      hide();
      await output.close();
    },
  };
}

/** Delays the rows and the status line of a tail while a question is open on the same terminal. */
interface Pause {
  readonly isOpen: boolean;
  /** A promise that resolves when rows may be printed; undefined if they may be printed now. */
  wait(): Promise<void> | undefined;
  end(): void;
}

function createPause({ io, globals, display }: Context, hide: () => void): Pause {
  const isShared = io.stdout.isTTY === true && globals.out === undefined;
  let open: { readonly over: Promise<void>; readonly resume: () => void } | undefined;
  const end = display({
    hide() {
      hide();
      let resume = () => {};
      const over = new Promise<void>((resolve) => {
        resume = resolve;
      });
      open = { over, resume };
    },
    show() {
      open?.resume();
      open = undefined;
    },
  });
  return {
    get isOpen() {
      return open !== undefined;
    },
    wait: () => (isShared ? open?.over : undefined),
    end,
  };
}
