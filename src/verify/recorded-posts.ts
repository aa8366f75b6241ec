import { addAbortSignal, type Readable } from 'node:stream';
import { usageError } from '../base/failure.ts';
import { parseJson, stringifyJson } from '../base/json.ts';
import { isRecord } from '../base/json-object.ts';
import { LineSplitter } from '../base/lines.ts';
import { unpacked, utf8Of } from '../input/read-text.ts';
import { type TailRow, tailRow } from '../tail/post-row.ts';
import { chunksOf } from './scan.ts';

const LONGEST_LINE = 16 * 1024 * 1024;

interface RecordedInput {
  readonly stdin: Readable;
  readonly signal: AbortSignal;
}

/**
 * The lines of a file that any program may have written, or of stdin (`-`): lines of JSON or one
 * JSON array, gzipped or not. The bytes of a line are valid until the next one is requested.
 */
export async function* recordedLines(
  file: string,
  { stdin, signal }: RecordedInput,
): AsyncGenerator<Buffer, void, void> {
  const bytes =
    file === '-' ? unpacked(addAbortSignal(signal, stdin), 'stdin') : chunksOf(file, signal);
  const lines = new LineSplitter(LONGEST_LINE);
  const array: Buffer[] = [];
  let first: string | undefined;
  for await (const chunk of utf8Of(bytes)) {
    first ??= /\S/.exec(Buffer.from(chunk).toString('latin1'))?.[0];
    if (first === '[') array.push(Buffer.from(chunk));
    else for (const line of lines.push(chunk)) if (line.bytes.length > 0) yield line.bytes;
  }
  for (const line of lines.end()) yield line.bytes;
  if (first !== '[') return;
  const items = parseJson(Buffer.concat(array).toString('utf8'));
  if (!Array.isArray(items))
    throw usageError(
      `${file === '-' ? 'stdin' : file} is not valid JSON`,
      'it may be cut: save it again',
    );
  for (const item of items) yield Buffer.from(stringifyJson(item));
}

/** The posts of a file. Null for a line without a post. */
export async function* recordedPosts(
  file: string,
  timeField: string,
  input: RecordedInput,
): AsyncGenerator<TailRow | null, void, void> {
  for await (const bytes of recordedLines(file, input)) {
    const record = parseJson(bytes.toString('utf8'));
    yield isRecord(record) ? tailRow(record, timeField) : null;
  }
}
