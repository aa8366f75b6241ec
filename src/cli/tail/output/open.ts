import { basename } from 'node:path';
import { openPromise } from '../../../base/calls.ts';
import { usageError } from '../../../base/failure.ts';
import type { View } from '../../../output/view.ts';
import type { Filters } from '../../../tail/certificate.ts';
import { Confluence, type ConfluenceFields, confluenceName } from '../../../tail/confluence.ts';
import { every } from '../../../tail/every.ts';
import { certify, resumeLines } from '../../../tail/file/certify.ts';
import { openFollowed } from '../../../tail/file/followed-file.ts';
import {
  feedOf,
  positionPath,
  readStart,
  resumableOut,
  savePosition,
  type TailFiles,
} from '../../../tail/file/position-file.ts';
import type { TailSink } from '../../../tail/ports.ts';
import type { Position } from '../../../tail/position.ts';
import type { PostFields } from '../../../tail/post-row.ts';
import type { Context } from '../../run/context.ts';
import { openSink, selectedFields } from '../../run/printing.ts';
import type { TailFlags } from '../flags.ts';
import { confluentSink } from './confluence-sink.ts';
import { printTo, type TailOutput } from './writer.ts';

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

/** Finds out where the run continues, and what its file contains; `feed` is the name of the feed in positions. */
export function resumeOutput(
  context: Context,
  files: TailFiles,
  { feed: name, flags: { confluence }, timeField, filters = {} }: OutputPlan,
) {
  const feed = feedOf(`${name}${confluenceName(confluence)}`, context.service);
  const position = readStart({
    ...files,
    feed,
    timeField,
    notice: context.terminal.notice,
    isConfluence: confluence !== undefined,
  });
  return files.out === undefined
    ? { feed, position, place: undefined }
    : { feed, ...resumeLines(files.out, position, filters) };
}

/** `hide` hides the status line; `moved` is called when the output continues in another file. */
interface OutputHooks {
  readonly hide: () => void;
  readonly moved: () => void;
  /** Up to which post time the feed is verified. */
  readonly verified: () => number | null;
}

/** Opens the output of a run: stdout, a pipe, a file or a command. */
export async function openOutput(
  context: Context,
  plan: OutputPlan,
  files: TailFiles,
  { feed, position, place }: ReturnType<typeof resumeOutput>,
  { hide, moved, verified }: OutputHooks,
) {
  const { io } = context.terminal;
  const { settings } = context;
  const { flags, view, timeField, fields, filters = {} } = plan;
  const { out, checkpoint } = files;
  const { confluence } = flags;
  /** The last position that was saved: of all rows that it covers, none is in a later file. */
  let last = position;
  const followed =
    out === undefined
      ? undefined
      : await openFollowed(out, {
          ...{ mono: io.clock.mono, now: io.clock.now, warn: context.terminal.notice, from: place },
          rotate: flags.rotate && { rule: flags.rotate, timeField },
          certify: (path, lines) => last && !confluence && certify(path, last, lines),
          retry: (step) => context.out.diskWait.retry(out, step),
          moved(how, name) {
            if (how === 'finished')
              context.terminal.notice(`finished ${basename(name ?? out)}: continuing in ${out}`);
            else context.terminal.notice(`${out} was ${how}: continuing in a new file`);
            moved();
          },
        });
  const ended = new AbortController();
  const stopListening = followed && io.onReopen(() => void followed.check());
  const watch = followed && every(io.clock, () => 1_000, ended.signal, followed.check);
  const pause = createPause(context, hide);
  // The status line is hidden before each write, so that rows do not continue it.
  const toStdout = () =>
    settings.flags.out === undefined
      ? openSink(io, undefined, context.out.diskWait, hide)
      : undefined;
  const output: TailOutput =
    flags.exec === undefined
      ? printTo(
          await context.out.records(view, false, followed?.sink ?? (await toStdout())),
          hide,
          pause.wait,
        )
      : await (await import('../exec/open.ts')).openHandoff(context, {
          view,
          flags,
          checkpoint,
          feed,
        });
  const inner = confluence
    ? confluentSink(
        output.sink,
        new Confluence(confluence, fields, position?.state, verified),
        flags.count,
      )
    : output.sink;
  const sink: TailSink = {
    ...inner,
    ...(followed && {
      place() {
        const { lines, ...file } = followed.place();
        // A file of confluences has no certificate, because its lines are not posts.
        return confluence ? file : { ...file, lines };
      },
      write(rows) {
        for (const { at } of rows) followed.saw(at);
        return inner.write(rows);
      },
    }),
    waits: context.out.diskWait.wait,
    async end() {
      context.out.diskWait.close();
      await inner.end?.();
    },
  };
  const saved = positionPath(files);
  /** Saves a position, and with it the certificate of the file. */
  const save = (path: string, taken: Position) => {
    last = { ...taken, filters };
    savePosition(path, last);
    // With --checkpoint, the position is elsewhere.
    if (out !== undefined && checkpoint !== undefined && last.file) certify(out, last, last.file);
  };
  return {
    ...output,
    sink,
    save:
      saved === undefined
        ? undefined
        : (taken: Position) => context.out.diskWait.retry(saved, () => save(saved, taken)),
    /** Whether a question is open on the terminal. */
    isPaused: pause.isOpen,
    async close(): Promise<void> {
      pause.end();
      stopListening?.();
      ended.abort();
      await watch;
      hide();
      await output.close();
    },
  };
}

/** Delays the rows and the status line of a tail while a question is open on the same terminal. */
function createPause({ terminal, settings }: Context, hide: () => void) {
  const isShared = terminal.io.stdout.isTTY === true && settings.flags.out === undefined;
  let open: ReturnType<typeof openPromise> | undefined;
  const end = terminal.display({
    hide() {
      hide();
      open = openPromise();
    },
    show() {
      open?.resolve();
      open = undefined;
    },
  });
  return {
    isOpen: () => open !== undefined,
    /** A promise that resolves when rows may be printed; undefined if they may be printed now. */
    wait: () => (isShared ? open?.promise : undefined),
    end,
  };
}

/** A tail resumes from NDJSON whose records have an id and a post time. */
export async function checkOutput(
  context: Context,
  { view, timeField }: Pick<OutputPlan, 'view' | 'timeField'>,
  flags: TailFlags,
): Promise<void> {
  const { flags: shown, format } = context.settings;
  const fields = await selectedFields(shown.fields, view);
  if (flags.rotate !== undefined && resumableOut(shown.out) === undefined)
    throw usageError('--rotate requires --out FILE', 'add --out FILE');
  if (flags.exec?.trim() === '')
    throw usageError('--exec has no command', 'write a command, for example --exec ./deliver');
  if (flags.exec !== undefined && shown.out !== undefined)
    throw usageError('--exec and --out cannot be combined', 'let the command write the file');
  const asked = shown.json ? 'json' : shown.output;
  const remove = `remove ${shown.json ? '--json' : '-o'}`;
  if (flags.exec !== undefined && asked !== undefined && asked !== 'ndjson')
    throw usageError(`--exec hands over NDJSON, not ${asked}`, remove);
  if (shown.out === undefined) return;
  if (format !== 'ndjson') {
    throw usageError(
      `a tail can resume only from an NDJSON file, so --out cannot be ${format}`,
      asked === undefined ? 'use the extension .ndjson' : remove,
    );
  }
  if (fields && !['id', timeField].every((name) => fields.includes(name))) {
    throw usageError(
      `without the fields id and ${timeField}, a tail cannot resume from its --out`,
      'add them to --fields',
    );
  }
}
