import { Failure } from '../../base/failure.ts';
import { parseJson } from '../../base/json.ts';
import { timeOf } from '../row.ts';
import type { Batch } from './batch.ts';

/** Ids and post times of the posts that a command has acknowledged. */
export type Acknowledged = readonly (readonly [id: string, at: number | null])[];

/**
 * The line that is appended to the checkpoint file for an acknowledged batch, so that a crash repeats only the
 * batch in progress. Writing a complete checkpoint for each batch would be too slow.
 */
export const acknowledgedLine = ({ rows }: Batch): string =>
  `${JSON.stringify({ acknowledged: rows.map(({ id, at }) => [id, at]) })}\n`;

/**
 * Splits the file into its checkpoint and the batches that were acknowledged afterwards. Ignores an
 * incomplete last line.
 */
export function splitCheckpoint(text: string): { readonly head: string; readonly since: Acknowledged } {
  const [head = '', ...lines] = text.split('\n');
  return { head, since: lines.flatMap(readLine) };
}

const START_FORM = 'trdr-tail-start';

/**
 * The first line of the file until a run writes a checkpoint: the post time from which the run hands over posts,
 * or null if that time is not known. Lines for acknowledged batches are appended, so that the next run hands over
 * only the other posts.
 */
export const startCheckpoint = (feed: string, since: number | null): string =>
  JSON.stringify({ form: START_FORM, version: 1, feed, since });

/**
 * Reads the start time from the first line of a file without a checkpoint; undefined if the first line is not
 * a start time. Throws if the file belongs to another feed.
 */
export function readStartCheckpoint(
  text: string,
  feed: string,
): { readonly since: number | null } | undefined {
  const head = parseJson(splitCheckpoint(text).head);
  if (typeof head !== 'object' || head === null || !('form' in head) || head.form !== START_FORM)
    return undefined;
  if ('feed' in head && head.feed === feed) return { since: 'since' in head ? timeOf(head.since) : null };
  throw new Failure('local', 'invalid checkpoint: it belongs to another feed', {
    code: 'CHECKPOINT',
    hint: 'use a different file, or move this file aside to start over',
  });
}

function readLine(line: string): Acknowledged {
  const value = parseJson(line);
  if (typeof value !== 'object' || value === null || !('acknowledged' in value)) return [];
  return Array.isArray(value.acknowledged) ? value.acknowledged.filter(isPost) : [];
}

const isPost = (value: unknown): value is readonly [string, number | null] =>
  Array.isArray(value) &&
  value.length === 2 &&
  typeof value[0] === 'string' &&
  (value[1] === null || timeOf(value[1]) !== null);
