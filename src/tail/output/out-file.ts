import { Failure } from '../../base/failure.ts';
import { parseJson } from '../../base/json.ts';
import { parseObject } from '../../base/json-object.ts';
import { postTimeOf } from '../row.ts';
import { plausibleTimes, steadyTime } from '../seen/watermark.ts';
import type { Timing } from '../timing.ts';
import type { Resume } from '../walk/bounds.ts';

/** Random access to the bytes of a file. */
export interface TailBytes {
  readonly size: number;
  read(from: number, to: number): Promise<Uint8Array>;
}

/** The facts that a new run derives from an output file. */
export interface TailEnd {
  /** The number of bytes up to the end of the last complete line. An incomplete line may follow. */
  readonly keep: number;
  /** Where to resume; undefined if the file has no lines. */
  readonly resume: Resume | undefined;
  /**
   * Whether the first line is so recent that a walk also reads posts from before it, which may have been printed
   * to an earlier file. Always true for a file without lines.
   */
  readonly young: boolean;
}

/** The settings for interpreting the lines. */
export interface LineForm {
  readonly timeField: string;
  /** The local time, epoch ms. */
  readonly now: number;
}

/** The number of bytes read at a time. */
const CHUNK = 65_536;
/** This many lines are always read, if the file has them. */
const LEAST_LINES = 2_000;
/**
 * The file is read from its end, until this many consecutive lines are older than needed. Lines further up are
 * expected to be older still.
 */
const OLDER_LINES = 64;
/**
 * The number of first lines that determine where a file starts. Late posts from the WebSocket, which can be much
 * older, are printed after these lines.
 */
const FIRST_LINES = 3;
const LINE_END = 0x0a;

interface Known {
  readonly id: string;
  readonly at: number | null;
}

/**
 * Reads the end of an NDJSON file that a tail wrote. A tail prints rows for at most `holdMs` without a new
 * verification, and a post appears at most `marginMs` late. So the file is complete up to T, the post time of its
 * newest line minus `holdMs` and `marginMs`. The ids of posts that are older than T (or than `wanted`, if that is
 * earlier) by up to `holdMs` and `marginMs` are read too, because a late post is written after newer ones.
 */
export async function readTailFile(
  bytes: TailBytes,
  form: LineForm,
  spans: Pick<Timing, 'marginMs' | 'holdMs'>,
  /** The post time since which a checkpoint needs all ids; Infinity without a checkpoint. */
  wanted = Number.POSITIVE_INFINITY,
): Promise<TailEnd> {
  const depth = spans.marginMs + spans.holdMs;
  const known: Known[] = [];
  let keep = 0;
  let older = 0;
  let newest: number | null = null;
  for await (const line of linesFromEnd(bytes)) {
    keep = Math.max(keep, line.end);
    const row = rowOfLine(line.text, form);
    if (!row) {
      if (line.text.trim() === '') continue;
      throw notTailOutput(line.text);
    }
    known.push(row);
    if (known.length < LEAST_LINES) continue;
    if (known.length === LEAST_LINES) newest = newestOf(known, form.now);
    else if (row.at !== null && newest !== null) {
      newest = Math.max(newest, row.at < newest + depth ? row.at : newest);
      older = row.at < Math.min(newest - depth, wanted) - depth ? older + 1 : 0;
    }
    if (older >= OLDER_LINES) break;
  }
  if (known.length === 0) return { keep, resume: undefined, young: true };
  const whole = older < OLDER_LINES;
  newest ??= newestOf(known, form.now);
  const resume = resumeFrom(known, whole, newest, depth, spans.holdMs);
  return { keep, resume, young: whole && resume.floor > (newest ?? Number.POSITIVE_INFINITY) - depth };
}

const newestOf = (known: readonly Known[], now: number): number | null =>
  steadyTime(
    plausibleTimes(
      known.map(({ at }) => at),
      now,
    ),
  );

function resumeFrom(
  known: readonly Known[],
  whole: boolean,
  newest: number | null,
  depth: number,
  holdMs: number,
): Resume {
  const horizon = newest === null ? Number.NEGATIVE_INFINITY : newest - depth;
  const floor = whole ? Math.max(horizon, beginOf(known, horizon)) : horizon;
  const last = known[0];
  return {
    kind: 'file',
    watermark: { top: last ?? null, base: newest === null ? null : newest - holdMs },
    floor,
    known: known.map(({ id, at }) => [id, at] as const),
  };
}

/**
 * The post time at which a file starts: the oldest of its first lines. Later lines can be older, because
 * the WebSocket also delivers late posts from before the start. -Infinity if the first lines have no time, or one
 * before `horizon`.
 */
function beginOf(known: readonly Known[], horizon: number): number {
  const begin = known
    .slice(-FIRST_LINES)
    .reduce((least, { at }) => (at === null ? least : Math.min(least, at)), Number.POSITIVE_INFINITY);
  return Number.isFinite(begin) && begin >= horizon ? begin : Number.NEGATIVE_INFINITY;
}

/** Yields complete lines, last one first. Skips text after the last line break. */
async function* linesFromEnd(bytes: TailBytes): AsyncGenerator<{ text: string; end: number }> {
  let end = -1;
  let rest: Uint8Array = new Uint8Array(0);
  for (let to = bytes.size; to > 0; ) {
    const from = Math.max(0, to - CHUNK);
    const chunk = Buffer.concat([await bytes.read(from, to), rest]);
    let stop = chunk.length;
    for (
      let at = chunk.lastIndexOf(LINE_END);
      at >= 0;
      at = at > 0 ? chunk.lastIndexOf(LINE_END, at - 1) : -1
    ) {
      if (end >= 0) yield { text: chunk.toString('utf8', at + 1, stop), end };
      end = from + at + 1;
      stop = at;
    }
    rest = chunk.subarray(0, stop);
    // Until a line break is found, drop the text: it belongs to the incomplete last line. After that, what
    // remains of a chunk is the end of a line that starts in the chunk before it.
    if (end < 0) rest = new Uint8Array(0);
    to = from;
  }
  if (end >= 0) yield { text: Buffer.from(rest).toString('utf8'), end };
}

/** The post time in a line, which is ISO 8601 text if the file was written with `--times iso`. */
const timeOfLine = (value: unknown): number | null =>
  postTimeOf(typeof value === 'string' && /^\d{4}-/.test(value) ? Date.parse(value) : value);

function rowOfLine(text: string, form: LineForm): Known | undefined {
  const record = parseObject(text);
  const id = record?.['id'];
  return typeof id === 'string' ? { id, at: timeOfLine(record?.[form.timeField]) } : undefined;
}

const notTailOutput = (line: string) =>
  new Failure(
    'local',
    `the output file has a line that is not a record with an id: ${JSON.stringify(line.slice(0, 60))}`,
    {
      code: 'TAIL_FILE',
      hint: 'use a new file, or a file that a tail wrote, whose lines have an id and a post time',
    },
  );

/**
 * Combines a checkpoint with its output file. The checkpoint states up to where the feed was complete when
 * the checkpoint was written; the file shows what was printed since then.
 */
export function mergeResume(
  checkpoint: Resume | undefined,
  file: Resume | undefined,
  /** The ids of incomplete lines. Their rows must be written again, even if the checkpoint contains them. */
  torn: readonly (string | undefined)[] = [],
): Resume | undefined {
  if (!checkpoint) return file;
  const known = checkpoint.known.filter(([id]) => !torn.includes(id));
  return { ...checkpoint, known, lines: [...(checkpoint.lines ?? []), ...(file?.known ?? [])] };
}

/** The id in an incomplete line; undefined if the id itself is incomplete. */
export function tornId(text: string): string | undefined {
  const found = /"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+(?=[,}]))/.exec(text)?.[1];
  if (found === undefined) return undefined;
  const id = parseJson(found);
  return typeof id === 'string' ? id : found;
}
