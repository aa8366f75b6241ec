import { Failure } from '../../base/failure.ts';
import { isRecord, type JsonObject, parseObject } from '../../base/json-object.ts';
import { splitCheckpoint } from '../exec/acknowledged.ts';
import type { Flow } from '../flow.ts';
import { timeOf } from '../row.ts';
import type { Watermark } from '../seen/watermark.ts';
import type { Resume } from '../walk/bounds.ts';

/** The content of a checkpoint. */
export interface Checkpoint {
  /** The feed and its service. A tail of another feed cannot resume from the checkpoint. */
  readonly feed: string;
  readonly watermark: Watermark;
  readonly floor: number | null;
  readonly known: readonly (readonly [id: string, at: number | null])[];
}

/**
 * The checkpoint of the current state; undefined if there is no watermark yet. It omits the ids of rows that are
 * still waiting to be printed, so that the next run prints them.
 */
export function snapshotOf(feed: string, { watermark, margin, seen, isHeld }: Flow): string | undefined {
  if (!watermark) return undefined;
  const horizon = watermark.base === null ? Number.NEGATIVE_INFINITY : watermark.base - margin.ms;
  const from = Math.max(horizon, seen.floor);
  const floor = Number.isFinite(from) ? from : null;
  return writeCheckpoint({ feed, watermark, floor, known: seen.since(from).filter(([id]) => !isHeld(id)) });
}

const FORMAT = 'trdr-tail';
const VERSION = 1;

/**
 * The text of a checkpoint file.
 * @internal Exported for tests.
 */
export const writeCheckpoint = (checkpoint: Checkpoint): string =>
  `${JSON.stringify({ form: FORMAT, version: VERSION, ...checkpoint })}\n`;

/** Reads a checkpoint; throws if it is incomplete or invalid. */
export function readCheckpoint(text: string, feed: string): Resume {
  const { head, since } = splitCheckpoint(text);
  const value = parse(head);
  if (value['form'] !== FORMAT) throw invalidCheckpoint('it was not written by a tail');
  if (value['version'] !== VERSION) throw invalidCheckpoint('it was written by a different version of trdr');
  if (value['feed'] !== feed)
    throw invalidCheckpoint(`it belongs to another feed (${String(value['feed'])}, not ${feed})`);
  const watermark = watermarkFrom(value['watermark']);
  const known = value['known'];
  const floor = value['floor'];
  // Reject an invalid floor: without it, printed rows that are older than the ids in `known` would count as new.
  const readable = floor === null || timeOf(floor) !== null;
  if (!watermark || !readable || !Array.isArray(known) || !known.every(isKnown))
    throw invalidCheckpoint('it is damaged');
  return {
    kind: 'checkpoint',
    watermark,
    floor: timeOf(floor) ?? Number.NEGATIVE_INFINITY,
    known,
    ...(since.length > 0 && { lines: since }),
  };
}

function parse(text: string): JsonObject {
  const value = parseObject(text);
  // Use one error message for incomplete files, empty files and files of other programs.
  if (!value) throw invalidCheckpoint('it is damaged, or not a checkpoint file');
  return value;
}

function watermarkFrom(value: unknown): Watermark | undefined {
  if (!isRecord(value)) return undefined;
  const { top, base } = value;
  if (base !== null && timeOf(base) === null) return undefined;
  if (top === null) return { top, base: timeOf(base) };
  if (!isRecord(top) || typeof top['id'] !== 'string') return undefined;
  return { top: { id: top['id'], at: timeOf(top['at']) }, base: timeOf(base) };
}

const isKnown = (value: unknown): value is readonly [string, number | null] =>
  Array.isArray(value) &&
  value.length === 2 &&
  typeof value[0] === 'string' &&
  (value[1] === null || timeOf(value[1]) !== null);

const invalidCheckpoint = (what: string) =>
  new Failure('local', `invalid checkpoint: ${what}`, {
    code: 'CHECKPOINT',
    hint: 'use a different file, or move this file aside to start over',
  });
