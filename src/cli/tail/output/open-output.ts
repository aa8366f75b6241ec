import { basename } from 'node:path';
import { type OpenPromise, openPromise } from '../../../base/calls.ts';
import { usageError } from '../../../base/failure.ts';
import { errno } from '../../../base/files.ts';
import type { View } from '../../../output/view.ts';
import { confluenceView } from '../../../output/views/thesis.ts';
import type { Filters } from '../../../tail/certificate.ts';
import { type ConfluenceFields, confluenceName } from '../../../tail/confluence.ts';
import { cooldownName } from '../../../tail/cooldown.ts';
import { every } from '../../../tail/every.ts';
import { finishPart, isSameChoice, resumeLines } from '../../../tail/file/certify.ts';
import { FollowedFile } from '../../../tail/file/followed-file.ts';
import {
  feedOf,
  positionPath,
  resumableOut,
  type TailFiles,
} from '../../../tail/file/position-file.ts';
import { Positions } from '../../../tail/file/positions.ts';
import { readStart } from '../../../tail/file/read-start.ts';
import type { RunWriter } from '../../../tail/output/run-writer.ts';
import { stagesOf } from '../../../tail/output/stages.ts';
import type { OutputPorts, Writer } from '../../../tail/ports.ts';
import type { FilePlace, Position } from '../../../tail/position.ts';
import type { PostFields } from '../../../tail/post-row.ts';
import type { Context } from '../../run/context.ts';
import { selectedFields } from '../../run/open-printer.ts';
import type { TailFlags } from '../flags.ts';
import { openWriter } from './open-writer.ts';

/** What a tail prints. */
export interface ShownPosts {
  readonly view: View<PostFields>;
  /** The field with the time of what is printed. */
  readonly timeField: string;
  /** The fields that decide about confluences. */
  readonly fields: ConfluenceFields;
}

/**
 * A tail with --confluence prints records of several posts in place of the posts, and with
 * --cooldown each record has the number of those held back.
 */
export function shownBy(
  { confluence, cooldown }: Pick<TailFlags, 'confluence' | 'cooldown'>,
  posts: ShownPosts,
): ShownPosts {
  const shown = confluence
    ? { view: confluenceView, timeField: 'lastAt', fields: posts.fields }
    : posts;
  return cooldown ? { ...shown, view: withHeld(shown.view) } : shown;
}

/** The column goes before the text, which may be printed below the row. */
const withHeld = (view: View<PostFields>): View<PostFields> => ({
  ...view,
  columns: [
    ...view.columns.slice(0, -1),
    { title: 'held back', kind: 'integer', field: 'held' },
    ...view.columns.slice(-1),
  ],
  fields: () => [...view.fields(), 'held'],
});

export interface OutputPlan extends ShownPosts {
  readonly flags: TailFlags;
  /** The name of the feed, without its service. */
  readonly feed: string;
  /** The filters, by the names of their flags. */
  readonly filters?: Filters | undefined;
}

/** Where a run continues, and what its file contains. */
export interface ResumedOutput {
  /** The name of the feed in positions. */
  readonly feed: string;
  readonly position: Position | undefined;
  readonly place: Pick<FilePlace, 'offset' | 'lines'> | undefined;
}

export function resumeOutput(context: Context, files: TailFiles, plan: OutputPlan): ResumedOutput {
  const {
    feed: name,
    flags: { confluence },
    timeField,
  } = plan;
  const filters = choiceOf(plan);
  const feed = feedOf(`${name}${confluenceName(confluence)}`, context.service);
  const position = readStart({
    ...files,
    feed,
    timeField,
    notice: context.terminal.notice,
    isConfluence: confluence !== undefined,
  });
  const change = position && changeText(position.filters, filters);
  if (change) {
    const part = beginPart(context, files, position, timeField);
    context.terminal.notice(`${change}: ${part}`);
  }
  return files.out === undefined
    ? { feed, position, place: undefined }
    : { feed, ...resumeLines(files.out, position, filters) };
}

/** What decides which posts are printed, for certificates. */
const choiceOf = ({ filters = {}, flags: { cooldown } }: OutputPlan): Filters =>
  cooldown ? { ...filters, cooldown: cooldownName(cooldown) } : filters;

const listed = ['users', 'coins', 'wallets'] as const;

/** How the posts are chosen otherwise than in the last run; undefined if they are not. */
function changeText(before: Filters | undefined, now: Filters): string | undefined {
  if (before === undefined) return undefined;
  for (const name of listed) {
    const earlier = textsIn(before[name]);
    const later = textsIn(now[name]);
    const added = later.filter((value) => !earlier.includes(value)).length;
    const gone = earlier.filter((value) => !later.includes(value)).length;
    if (added + gone > 0)
      return `other ${name === 'users' ? 'authors' : name} than in the last run (${added} new, ${gone} gone)`;
  }
  return isSameChoice({ filters: before }, now) ? undefined : 'other filters than in the last run';
}

/**
 * Begins a new file, because the proof of the present one is about other posts; says what follows.
 */
function beginPart(
  { terminal }: Context,
  { out }: TailFiles,
  position: Position,
  timeField: string,
): string {
  const { verified } = position;
  const from = verified === null ? 'with this run' : `after ${new Date(verified).toISOString()}`;
  const stretch = `a new stretch begins ${from}`;
  if (out === undefined) return stretch;
  try {
    const name = finishPart(out, position, { timeField, now: terminal.io.clock.now() });
    return name === undefined ? stretch : `finished ${basename(name)}, ${stretch} in ${out}`;
  } catch (error) {
    return `${stretch}, in the same file: cannot rename it: ${errno(error) || 'unknown error'}`;
  }
}

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.map(String) : [];

/**
 * `hide` hides the status line; `onNewFile` is called when the output continues in another file.
 */
interface OutputHooks {
  readonly hide: () => void;
  readonly onNewFile: () => void;
  /** Up to which post time the feed is verified. */
  readonly verified: () => number | null;
}

/** What a run writes to, and what its wiring needs of it. */
export interface OpenedOutput extends Omit<RunWriter<Writer>, 'writer'> {
  readonly ports: OutputPorts;
  /** Whether a question is open on the terminal. */
  isPaused(): boolean;
  close(): Promise<void>;
}

/** Opens the output of a run: stdout, a pipe, a file or a command. */
export async function openOutput(
  context: Context,
  plan: OutputPlan,
  files: TailFiles,
  { feed, position, place }: ResumedOutput,
  { hide, onNewFile, verified }: OutputHooks,
): Promise<OpenedOutput> {
  const { flags, view, fields } = plan;
  const filters = choiceOf(plan);
  const { out, checkpoint } = files;
  const { confluence } = flags;
  const path = positionPath(files);
  const hasPosts = confluence === undefined;
  const certified =
    out !== undefined && hasPosts ? { out, isElsewhere: checkpoint !== undefined } : undefined;
  const positions = new Positions({ path, certified, filters }, position);
  const file =
    out === undefined
      ? undefined
      : await openFile(context, plan, { out, from: place, positions, onNewFile });
  const pause = new Pause(context, hide);
  const terminal = { hide, paused: () => pause.wait() };
  const opened = await openWriter(
    context,
    { view, flags, checkpoint, feed },
    { terminal, file: file?.followed, hasPosts },
  );
  const { diskWait } = context.out;
  return {
    ports: {
      writer: opened.writer,
      stages: stagesOf(flags, { fields, state: position?.state, verified }),
      disk: diskWait,
      save:
        path === undefined
          ? undefined
          : (taken) => diskWait.retry(path, () => positions.save(taken)),
    },
    closed: opened.closed,
    check: opened.check,
    handoff: opened.handoff,
    isPaused: () => pause.isOpen,
    async close() {
      await file?.stop();
      hide();
      pause.end();
      await opened.close();
    },
  };
}

interface FilePlan {
  readonly out: string;
  readonly from: Pick<FilePlace, 'offset' | 'lines'> | undefined;
  readonly positions: Positions;
  readonly onNewFile: () => void;
}

/** A file whose path is looked at every second, and at SIGUSR2. */
interface WatchedFile {
  readonly followed: FollowedFile;
  stop(): Promise<void>;
}

async function openFile(
  context: Context,
  { flags, timeField }: Pick<OutputPlan, 'flags' | 'timeField'>,
  { out, from, positions, onNewFile }: FilePlan,
): Promise<WatchedFile> {
  const { io, notice } = context.terminal;
  const followed = await FollowedFile.open(out, {
    mono: io.clock.mono,
    now: io.clock.now,
    warn: notice,
    from,
    rotate: flags.rotate && { rule: flags.rotate, timeField },
    certify: (path, place) => positions.certify(path, place),
    retry: (step) => context.out.diskWait.retry(out, step),
    moved(how, name) {
      if (how === 'finished') notice(`finished ${basename(name ?? out)}: continuing in ${out}`);
      else notice(`${out} was ${how}: continuing in a new file`);
      onNewFile();
    },
  });
  const check = () => followed.check();
  const stopListening = io.onReopen(() => void check());
  const stopLooking = every(io.clock, () => 1_000, check);
  return {
    followed,
    async stop() {
      stopListening();
      await stopLooking();
    },
  };
}

/** Delays the rows and the status line of a tail while a question is open on the same terminal. */
class Pause {
  /** Ends the notes of questions that open and close. */
  readonly end: () => void;
  readonly #isShared: boolean;
  #open: OpenPromise | undefined;

  constructor({ terminal, settings }: Context, hide: () => void) {
    this.#isShared = terminal.io.stdout.isTTY === true && settings.flags.out === undefined;
    this.end = terminal.display({
      clear: hide,
      hide: () => {
        hide();
        this.#open = openPromise();
      },
      show: () => {
        this.#open?.resolve();
        this.#open = undefined;
      },
    });
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** A promise that resolves when rows may be printed; undefined if they may be printed now. */
  wait(): Promise<void> | undefined {
    return this.#isShared ? this.#open?.promise : undefined;
  }
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
