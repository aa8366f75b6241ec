import { Failure } from '../base/failure.ts';
import { isRecord, type JsonObject, parseObject } from '../base/json-object.ts';
import {
  type Certificate,
  certificateFields,
  type FileLines,
  type Filters,
  isCount,
  isMoment,
  readCertificate,
  readCoverage,
  stretchesOf,
} from './certificate.ts';
import type { KnownState } from './known-posts.ts';
import { nthNewest, type PostMark, timeOf } from './post-row.ts';

/**
 * An older position is as good to continue from. For a file, it is also the certificate
 * (docs/proof.md).
 */
export interface Position extends KnownState {
  /** The feed and its service. A tail of another feed cannot continue from the position. */
  readonly feed: string;
  readonly filters?: Filters | undefined;
  readonly state?: string | undefined;
  /** Whether the service reported that nothing is older. */
  readonly end?: boolean | undefined;
  /** The file that was written to, and its size when the position was taken. */
  readonly file?: FilePlace | undefined;
  /** Where a follower of the store continues in the stream. */
  readonly stream?: JsonObject | undefined;
}

/** A place in a file, which is found by its inode even if the file was renamed. */
export interface FilePlace {
  readonly dev: string;
  readonly ino: string;
  readonly offset: number;
  readonly lines?: FileLines | undefined;
}

const FORM = 'trdr-position';
/** The form of a certificate without the ids and the place from which a tail continues. */
const CERTIFICATE = 'trdr-certificate';
const VERSION = 1;

export function positionText(position: Position): string {
  const { coverage, file, ids, ...rest } = position;
  const { lines, ...place } = file ?? {};
  const certificate = certificateOf(position);
  const shown = certificate ? certificateFields(certificate) : coverage;
  return textOf({
    form: FORM,
    version: VERSION,
    ...shown,
    ...rest,
    ...(file && { file: place }),
    ids,
  });
}

/** The certificate of a file that no tail appends to; undefined if not enough is known. */
export function certificateText(position: Position): string | undefined {
  const certificate = certificateOf(position);
  return (
    certificate &&
    textOf({ form: CERTIFICATE, version: VERSION, ...certificateFields(certificate) })
  );
}

function certificateOf(position: Position): Certificate | undefined {
  const { feed, filters = {}, coverage, verified, lowest, readAt = null, end, file } = position;
  if (!coverage || !file?.lines) return undefined;
  const { lines, offset: bytes } = file;
  return { feed, filters, coverage, verified, lowest, readAt, end, lines, bytes };
}

/**
 * Reads the certificate of a file; undefined if its text has none, `'damaged'` if it cannot be
 * read.
 */
export function certificateIn(text: string): Certificate | 'damaged' | undefined {
  const value = parseObject(text);
  if (!value) return 'damaged';
  const { form, version } = value;
  if ((form === FORM || form === CERTIFICATE) && isNewer(version)) throw newer();
  if (version !== VERSION) return 'damaged';
  // The position of a file that does not contain posts has no digest.
  if (!('digest' in value)) return undefined;
  const certificate = readCertificate(value);
  // What is stated twice shows damage.
  const isWhole = certificate && isSame(value['stretches'], stretchesOf(certificate));
  return isWhole ? certificate : 'damaged';
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

const isNewer = (version: unknown): boolean => typeof version === 'number' && version > VERSION;

const newer = () => invalid('it was written by a newer version of trdr', { hint: 'update trdr' });

const textOf = (value: JsonObject): string => `${JSON.stringify(value)}\n`;

export function readPosition(text: string, feed: string): Position {
  const value = parseObject(text);
  if (value?.['form'] !== FORM && value?.['form'] !== CERTIFICATE)
    throw damagedCheckpoint('it is damaged, or not a checkpoint file');
  if (isNewer(value['version'])) throw newer();
  if (value['version'] !== VERSION) throw damagedCheckpoint('it is damaged');
  const certificate = readCertificate(value);
  const isAlone = value['form'] === CERTIFICATE;
  const { verified, lowest, readAt = null } = value;
  const [start, ids] = isAlone ? [verified, []] : [value['start'], value['ids']];
  if (![start, verified, lowest].every(isMoment) || !Array.isArray(ids) || !ids.every(isId))
    throw damagedCheckpoint('it is damaged');
  if (isAlone && !certificate) throw damagedCheckpoint('it is damaged');
  const place = isAlone
    ? { dev: '', ino: '', offset: certificate?.bytes ?? 0 }
    : placeOf(value['file']);
  return checkedFeed(
    {
      feed: String(value['feed']),
      filters: certificate?.filters ?? filtersIn(value),
      start: timeOf(start),
      verified: timeOf(verified),
      lowest: timeOf(lowest),
      readAt: isMoment(readAt) ? timeOf(readAt) : null,
      ids,
      coverage: readCoverage(value),
      state: typeof value['state'] === 'string' ? value['state'] : undefined,
      stream: isRecord(value['stream']) ? value['stream'] : undefined,
      file: place && { ...place, lines: certificate?.lines },
    },
    feed,
  );
}

const filtersIn = ({ filters }: JsonObject) => (isRecord(filters) ? filters : undefined);

function checkedFeed(position: Position, feed: string): Position {
  if (position.feed === feed) return position;
  throw invalid(`it belongs to another feed (${position.feed}, not ${feed})`);
}

const isId = (value: unknown): value is readonly [string, number | null] =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && isMoment(value[1]);

function placeOf(value: unknown): FilePlace | undefined {
  if (!isRecord(value)) return undefined;
  const { dev, ino, offset } = value;
  return typeof dev === 'string' && typeof ino === 'string' && isCount(offset)
    ? { dev, ino, offset }
    : undefined;
}

/**
 * Lines without a position do not show what is missing: coverage then starts shortly before the
 * newest post.
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
  return {
    feed,
    start: from,
    verified: from,
    lowest: null,
    ids,
    coverage: { after: from, gaps: [] },
  };
}

/** The code of a checkpoint that cannot be read: the lines of its file show where to continue. */
export const DAMAGED_CHECKPOINT = 'CHECKPOINT_DAMAGED';

export const damagedCheckpoint = (what: string): Failure =>
  invalid(what, { code: DAMAGED_CHECKPOINT });

const invalid = (what: string, { code = 'CHECKPOINT', hint = START_OVER } = {}): Failure =>
  new Failure('local', `invalid checkpoint: ${what}`, { code, hint });

const START_OVER = 'use a different file, or move this file aside to start over';
