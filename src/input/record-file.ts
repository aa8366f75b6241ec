import { extname } from 'node:path';
import { type Failure, usageError } from '../base/failure.ts';
import { parseJson } from '../base/json.ts';
import { type InputIo, inputText, linesIn, peek } from './read-text.ts';

type RecordFormat = 'table' | 'ndjson' | 'json';

/** A file of records that trdr has printed, in one of its machine formats. */
export interface RecordFile {
  /** The name for messages. */
  readonly name: string;
  readonly format: RecordFormat;
  readonly text: AsyncIterable<string>;
}

/** A value of a file, and where it is in the file, for messages. */
interface FoundValue {
  readonly value: unknown;
  readonly where: string;
}

const byExtension: Readonly<Record<string, RecordFormat>> = {
  '.csv': 'table',
  '.tsv': 'table',
  '.tab': 'table',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'json',
};

/**
 * Opens a file, or stdin. The extension states the format; without one, the first character does.
 */
export async function openRecords(path: string, io: InputIo): Promise<RecordFile> {
  const { first, all } = await peek(inputText(path, io));
  const format = byExtension[extname(path.replace(/\.gz$/i, '')).toLowerCase()] ?? formatOf(first);
  return { name: path === '-' ? 'stdin' : path, format, text: all };
}

/** The failure of a file that is not one of the outputs that `hint` names. */
export const unreadableFile = (name: string, why: string, hint: string): Failure =>
  usageError(`cannot read ${name}: ${why}`, hint);

/** The failure of a file that has two different records of one subject. */
export const otherValues = (name: string, subject: string, where: string, hint: string): Failure =>
  unreadableFile(name, `it has "${subject}" again, with other values, at ${where}`, hint);

function formatOf(first: string | undefined): RecordFormat {
  if (first === '[') return 'json';
  return first === '{' ? 'ndjson' : 'table';
}

/** The values of a file of JSON or NDJSON. What is not JSON is undefined. */
export async function* valuesIn({ format, text }: RecordFile): AsyncGenerator<FoundValue> {
  if (format === 'json') yield* itemsIn(text);
  else yield* lineValuesIn(text);
}

async function* itemsIn(chunks: AsyncIterable<string>): AsyncGenerator<FoundValue> {
  let text = '';
  for await (const chunk of chunks) text += chunk;
  const value = parseJson(text);
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const [at, item] of list.entries()) yield { value: item, where: `item ${at + 1}` };
}

/** The maximum length of a line in bytes; no record is this long. */
const LONGEST_LINE = 4 * 1024 * 1024;

async function* lineValuesIn(chunks: AsyncIterable<string>): AsyncGenerator<FoundValue> {
  for await (const some of linesIn(chunks, LONGEST_LINE)) {
    for (const { bytes, number } of some) {
      const text = bytes.toString('utf8');
      if (text.trim() !== '') yield { value: parseJson(text), where: `line ${number}` };
    }
  }
}
