import { addTo } from '../../base/add-to.ts';
import { isRecord } from '../../base/json-object.ts';
import { known, postTimeOf, type Sent } from '../../contract/read-record.ts';
import { type AuthorPosition, PositionRecord } from '../../contract/records/position.ts';
import { normalName } from '../../core/pages/filter.ts';
import type { InputIo } from '../read-text.ts';
import { openRecords, unreadableFile, valuesIn } from '../record-file.ts';

/** The positions of an earlier output of "trdr author --positions". */
export interface EarlierPositions {
  /** The positions by the ids of their authors, in lower case. */
  readonly byAuthor: ReadonlyMap<string, readonly AuthorPosition[]>;
  /** The time at which the oldest of them was read; infinite if this is not known. */
  readonly readAt: number;
}

export async function readPositions(path: string, io: InputIo): Promise<EarlierPositions> {
  const file = await openRecords(path, io);
  if (file.format === 'table') throw unreadable(file.name, 'it is neither NDJSON nor JSON');
  // Outputs that were joined may have a position more than once: it counts as it was last.
  const positions = new Map<string, AuthorPosition>();
  let oldest = Number.POSITIVE_INFINITY;
  for await (const { value, where } of valuesIn(file)) {
    // An author who was not found has no positions.
    if (isRecord(value) && 'found' in value && value['found'] !== true) continue;
    // What changed is not all that there was.
    if (isRecord(value) && 'change' in value)
      throw unreadable(file.name, 'it is an output of --compare');
    const position = positionIn(value);
    if (position === undefined) throw unreadable(file.name, `${where} is not a position`);
    const { authorId, token, status, closedAt, readAt } = position;
    oldest = Math.min(oldest, readAt ?? oldest);
    positions.set([normalName(authorId), token, status, closedAt].join(' '), position);
  }
  const authors = new Map<string, AuthorPosition[]>();
  for (const position of positions.values()) {
    addTo(authors, normalName(position.authorId), position);
  }
  if (authors.size === 0) throw unreadable(file.name, 'it has no positions');
  return { byAuthor: authors, readAt: oldest };
}

type ReadPosition = AuthorPosition & { readonly readAt?: number | null };

function positionIn(value: unknown): ReadPosition | undefined {
  const sent: Sent = isRecord(value) ? withMsTimes(value) : {};
  const position = known(PositionRecord, sent);
  const { authorId, token, status, firstAt, lastAt, posts, closedAt, pnlUsd } = position;
  const isWhole = [authorId, token, status, firstAt, lastAt, posts, closedAt, pnlUsd].every(
    (field) => field !== undefined,
  );
  return isWhole ? (position as ReadPosition) : undefined;
}

/** Times as numbers; `--times iso` wrote them as texts. */
function withMsTimes(position: Sent): Sent {
  const { firstAt, lastAt, closedAt, readAt } = position;
  const times = Object.entries({ firstAt, lastAt, closedAt, readAt }).flatMap(([name, time]) =>
    typeof time === 'string' ? [[name, postTimeOf(time)]] : [],
  );
  return { ...position, ...Object.fromEntries(times) };
}

const unreadable = (name: string, why: string) =>
  unreadableFile(
    name,
    why,
    'pass an output of "trdr author --positions" as ndjson or json, with all fields',
  );
