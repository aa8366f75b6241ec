import { statsOf } from '../../base/files.ts';
import { readLines } from '../../base/lines.ts';
import type { PostMark } from '../post-row.ts';
import { postIn } from './line-count.ts';
import { endsLine, notTailOutput } from './torn-line.ts';

/** The number of last lines of a file that are certainly read. */
const LINES = 200_000;
const LONGEST_LINE = 16 * 1024 * 1024;

/**
 * The posts in the lines of a file, from a byte on; in all of them if the file was truncated after
 * this was noted.
 */
export function postsIn(
  path: string,
  from: number,
  timeField: string,
  after: number | null = null,
): PostMark[] {
  const size = statsOf(path)?.size ?? 0;
  // A truncated file may have grown beyond the byte again, which then is inside a line.
  const start = size < from || (from > 0 && !endsLine(path, from)) ? 0 : from;
  let marks: PostMark[] = [];
  let torn: string | undefined;
  let last: PostMark | undefined;
  for (const text of readLines(path, LONGEST_LINE, start)) {
    if (text.trim() === '') continue;
    if (torn !== undefined) throw notTailOutput(torn);
    const row = postIn(text, timeField);
    // A power failure can leave NUL bytes in place of the last line.
    if (!row && !text.startsWith('\0')) torn = text;
    last = row && (after === null || row.at === null || row.at > after) ? row : undefined;
    if (last) marks.push({ id: last.id, at: last.at });
    if (marks.length > 2 * LINES) marks = marks.slice(-LINES);
  }
  const isWhole = endsLine(path, size);
  if (torn !== undefined && isWhole) throw notTailOutput(torn);
  // A renamed file may end with an incomplete line. Its post is not known, even if only the line
  // end is missing.
  return isWhole || !last ? marks : marks.slice(0, -1);
}
