import { Failure } from '../../base/failure.ts';
import { parseJson } from '../../base/json.ts';
import { timeOf } from '../row.ts';
import type { Batch } from './batch.ts';

/** The ids and post times of acknowledged posts. */
export type Acknowledged = readonly (readonly [id: string, at: number | null])[];

/**
 * A checkpoint is one line. Each batch acknowledged later is appended as a line, so that a crash repeats only the batch
 * in progress, without writing a complete checkpoint for each batch.
 */
export const acknowledgedLine = ({ rows }: Batch): string =>
  `${JSON.stringify({ acknowledged: rows.map(({ id, at }) => [id, at]) })}\n`;

/** Splits the file into the checkpoint and the batches acknowledged since. A truncated line is ignored. */
export function splitCheckpoint(text: string): { readonly head: string; readonly since: Acknowledged } {
  const [head = '', ...lines] = text.split('\n');
  return { head, since: lines.flatMap(readLine) };
}

const START_FORM = 'trdr-tail-start';

/**
 * Replaces the checkpoint until a run has one: the post time from which it handed posts over. Acknowledged batches are
 * appended, so that the next run hands over the others.
 */
export const startCheckpoint = (feed: string, since: number | null): string =>
  JSON.stringify({ form: START_FORM, version: 1, feed, since });

/** The start in a file that has no checkpoint yet; undefined for any other file. One of another feed is rejected. */
export function readStartCheckpoint(
  text: string,
  feed: string,
): { readonly since: number | null } | undefined {
  const head = parseJson(splitCheckpoint(text).head);
  if (typeof head !== 'object' || head === null || !('form' in head) || head.form !== START_FORM)
    return undefined;
  if ('feed' in head && head.feed === feed) return { since: 'since' in head ? timeOf(head.since) : null };
  throw new Failure('local', 'the checkpoint belongs to another feed', {
    code: 'CHECKPOINT',
    hint: 'name another file, or move this one aside to start over',
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
