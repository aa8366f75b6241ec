import { LineSplitter } from '../base/lines.ts';
import { utf8Of } from '../input/read-text.ts';
import { postIn } from '../tail/file/line-count.ts';
import type { TailRow } from '../tail/post-row.ts';
import { chunksOf } from './scan.ts';

const LONGEST_LINE = 16 * 1024 * 1024;

/** The posts of a file that any program may have written; null for a line without one. */
export async function* recordedPosts(
  file: string,
  timeField: string,
  signal: AbortSignal,
): AsyncGenerator<TailRow | null, void, void> {
  const lines = new LineSplitter(LONGEST_LINE);
  for await (const chunk of utf8Of(chunksOf(file, signal)))
    yield* postsOn(lines.push(chunk), timeField);
  yield* postsOn(lines.end(), timeField);
}

function* postsOn(
  lines: Iterable<{ readonly bytes: Buffer }>,
  timeField: string,
): Generator<TailRow | null, void, void> {
  for (const { bytes } of lines) if (bytes.length > 0) yield postIn(bytes, timeField);
}
