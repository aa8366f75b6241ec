import { addAbortSignal, type Readable } from 'node:stream';
import { parseJson } from '../base/json.ts';
import { isRecord, plainJson } from '../base/json-object.ts';
import { LineSplitter } from '../base/lines.ts';
import { recordsOf } from '../contract/read-record.ts';
import { utf8Of } from '../input/read-text.ts';
import { type TailRow, tailRow } from '../tail/post-row.ts';
import { chunksOf, unpacked } from './scan.ts';

const LONGEST_LINE = 16 * 1024 * 1024;

interface RecordedInput {
  readonly stdin: Readable;
  readonly signal: AbortSignal;
  /** Whether the numbers of the posts are not printed, so that they need not keep their digits. */
  readonly isLean?: boolean;
}

/**
 * The posts of a file that any program may have written, or of stdin (`-`): lines of JSON or one
 * JSON array, gzipped or not. Null for a line without a post.
 */
export async function* recordedPosts(
  file: string,
  timeField: string,
  { stdin, signal, isLean = false }: RecordedInput,
): AsyncGenerator<TailRow | null, void, void> {
  const bytes = file === '-' ? unpacked(addAbortSignal(signal, stdin)) : chunksOf(file, signal);
  const parse = isLean ? leanJson : parseJson;
  const lines = new LineSplitter(LONGEST_LINE);
  const array: Buffer[] = [];
  let first: string | undefined;
  for await (const chunk of utf8Of(bytes)) {
    first ??= /\S/.exec(Buffer.from(chunk).toString('latin1'))?.[0];
    if (first === '[') array.push(Buffer.from(chunk));
    else yield* postsOn(lines.push(chunk), timeField, parse);
  }
  yield* postsOn(lines.end(), timeField, parse);
  const items = first === '[' ? recordsOf(parseJson(Buffer.concat(array).toString('utf8'))) : [];
  for (const item of items) yield tailRow(item, timeField);
}

function* postsOn(
  lines: Iterable<{ readonly bytes: Buffer }>,
  timeField: string,
  parse: (text: string) => unknown,
): Generator<TailRow | null, void, void> {
  for (const { bytes } of lines) {
    if (bytes.length === 0) continue;
    const record = parse(bytes.toString('utf8'));
    yield isRecord(record) ? tailRow(record, timeField) : null;
  }
}

/** Parses in a third of the time, and keeps the digits of an id alone. */
function leanJson(text: string): unknown {
  const value = plainJson(text);
  return isRecord(value) && typeof value['id'] === 'number' ? parseJson(text) : value;
}
