import { Failure } from '../../base/failure.ts';
import { errno, LARGEST_CHECKPOINT, readBounded } from '../../base/files.ts';
import { isRecord, parseObject } from '../../base/json-object.ts';
import { entryMs } from '../../store/feed/entry.ts';
import type { FeedPosition } from '../../store/feed/follower.ts';

const FORM = 'trdr-follow';

/** A position as the text of a checkpoint file. */
export const followText = (feed: string, position: FeedPosition): string =>
  `${JSON.stringify({ form: FORM, version: 1, feed, ...position })}\n`;

/**
 * Reads the checkpoint of a follower; undefined if there is no file. Throws if
 * the file is damaged or belongs to another feed.
 */
export function readFollowCheckpoint(path: string, feed: string): FeedPosition | undefined {
  let text: string | undefined;
  try {
    text = readBounded(path, LARGEST_CHECKPOINT);
  } catch (error) {
    throw refuse(path, `cannot be read (${errno(error)})`);
  }
  if (text === undefined) return undefined;
  const value = parseObject(text);
  if (value?.['form'] === 'trdr-position' || value?.['form'] === 'trdr-tail')
    throw refuse(path, 'was written by a tail that did not read from the store');
  if (value?.['form'] !== FORM || value['version'] !== 1)
    throw refuse(path, 'is not a valid checkpoint file');
  if (value['feed'] !== feed) throw refuse(path, 'belongs to another feed');
  const { entry, last, known, verified, state } = value;
  if (
    typeof entry !== 'string' ||
    !/^\d+-\d+$/.test(entry) ||
    !Array.isArray(known) ||
    !known.every(isKnown)
  ) {
    throw refuse(path, 'is damaged');
  }
  return {
    ...{ entry, last: placeOf(last), known, verified: typeof verified === 'number' ? verified : null },
    state: typeof state === 'string' ? state : undefined,
  };
}

/**
 * Adds the ids of posts that follow the position but were already delivered. These ids expire at the same
 * time as the newest id of the position.
 */
export function withIds(position: FeedPosition, ids: readonly string[]): FeedPosition {
  const ms = position.known.reduce((most, [, each]) => Math.max(most, each), entryMs(position.entry));
  return { ...position, known: [...position.known, ...ids.map((id) => [id, ms] as const)] };
}

const isKnown = (value: unknown): value is readonly [string, number] =>
  Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'number';

function placeOf(value: unknown): FeedPosition['last'] {
  const { id, at } = isRecord(value) ? value : {};
  return typeof id === 'string' ? { id, at: typeof at === 'number' ? at : null } : null;
}

const refuse = (path: string, what: string) =>
  new Failure('local', `${path} ${what}`, {
    code: 'CHECKPOINT',
    hint: 'move it aside to start over, or use a different file',
  });
