import { Failure } from '../base/failure.ts';
import { isRecord, type JsonObject, parseObject } from '../base/json-object.ts';
import type { KnownState } from './known.ts';
import { nthNewest, type PostMark, timeOf } from './row.ts';

/** Where a tail stands in its feed and in its file. A later run continues there, and an older one is as good. */
export interface Position extends KnownState {
  /** The feed and its service. A tail of another feed cannot continue from the position. */
  readonly feed: string;
  /** The file that was written to, and its size when the position was taken. */
  readonly file?: FilePlace | undefined;
}

/** A place in a file, which is found by its inode even if the file was renamed. */
export interface FilePlace {
  readonly dev: string;
  readonly ino: string;
  readonly offset: number;
}

const FORM = 'trdr-position';
const VERSION = 1;

export const positionText = (position: Position): string =>
  `${JSON.stringify({ form: FORM, version: VERSION, ...position })}\n`;

/** Reads a position; throws if it is damaged, or belongs to another feed. */
export function readPosition(text: string, feed: string): Position {
  const value = parseObject(text);
  if (value?.['form'] !== FORM) {
    const old = value && readOldCheckpoint(value);
    if (!old) throw invalid('it is damaged, or not a checkpoint file');
    return checkedFeed({ ...old, feed: String(value['feed']) }, feed);
  }
  if (value['version'] !== VERSION) throw invalid('it was written by a newer version of trdr');
  const { ids } = value;
  const times = [value['start'], value['verified'], value['lowest']];
  if (!times.every(isTime) || !Array.isArray(ids) || !ids.every(isId)) throw invalid('it is damaged');
  return checkedFeed(
    {
      feed: String(value['feed']),
      start: timeOf(value['start']),
      verified: timeOf(value['verified']),
      lowest: timeOf(value['lowest']),
      ids,
      file: placeOf(value['file']),
    },
    feed,
  );
}

function checkedFeed(position: Position, feed: string): Position {
  if (position.feed === feed) return position;
  throw invalid(`it belongs to another feed (${position.feed}, not ${feed})`);
}

/** Reads a checkpoint of trdr 1.0, whose ids are complete from its floor on. */
function readOldCheckpoint({ form, known, floor }: JsonObject): KnownState | undefined {
  if (form !== 'trdr-tail' || !Array.isArray(known) || !known.every(isId)) return undefined;
  const from = timeOf(floor);
  return { start: from, verified: from, lowest: null, ids: known };
}

const isTime = (value: unknown): boolean => value === null || timeOf(value) !== null;

const isId = (value: unknown): value is readonly [string, number | null] =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && isTime(value[1]);

function placeOf(value: unknown): FilePlace | undefined {
  if (!isRecord(value)) return undefined;
  const { dev, ino, offset } = value;
  return typeof dev === 'string' && typeof ino === 'string' && typeof offset === 'number'
    ? { dev, ino, offset }
    : undefined;
}

/**
 * Where a run continues that has these lines behind its position, or without a position, in all of its file. Without
 * one, the file shows only which posts it has: nothing before the newest of them, but for a margin, is vouched for.
 */
export function continueAfter(
  position: Position | undefined,
  lines: readonly PostMark[],
  feed: string,
  latenessMs: number,
): Position | undefined {
  const ids = lines.map(({ id, at }) => [id, at] as const);
  if (position) return { ...position, ids: [...position.ids, ...ids] };
  if (lines.length === 0) return undefined;
  // A single line may have a wrong time.
  const newest = nthNewest(
    lines.map(({ at }) => at),
    2,
  );
  const from = newest === null ? null : newest - 2 * latenessMs;
  return { feed, start: from, verified: from, lowest: null, ids };
}

const invalid = (what: string) =>
  new Failure('local', `invalid checkpoint: ${what}`, {
    code: 'CHECKPOINT',
    hint: 'use a different file, or move this file aside to start over',
  });
