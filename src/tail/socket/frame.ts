import { parseJson } from '../../base/json.ts';
import { type ServerFrame, ServerFrame as ServerFrameSchema } from '../../contract/frames.ts';
import { type PostFields, type TailRow, tailRow, timeOf } from '../row.ts';
import { standsAt } from './json-bytes.ts';
import { scanRecord, TIME_FIELD } from './scan.ts';

/** A frame that is no plain thesis. */
export type OddFrame =
  | { readonly kind: 'row'; readonly row: TailRow }
  | { readonly kind: 'control'; readonly frame: Exclude<ServerFrame, { type: 'thesis' }> }
  | { readonly kind: 'unreadable'; readonly why: string };

const PREFIX = Buffer.from('{"type":"thesis","data":');
const BRACE = 0x7d;

/** A row of whose record nothing was read but id and time: it is parsed when somebody asks for it. */
class UnreadRow implements TailRow {
  readonly id: string;
  readonly at: number | null;
  readonly raw: Buffer;
  private parsed: PostFields | undefined;

  constructor(id: string, at: number | null, raw: Buffer) {
    this.id = id;
    this.at = at;
    this.raw = raw;
  }

  get record(): PostFields {
    if (this.parsed) return this.parsed;
    const value = parseJson(this.raw.toString('utf8'));
    const record: PostFields = isObject(value) ? value : {};
    this.parsed = record;
    return record;
  }
}

/**
 * The row of a thesis frame in the form that services write them in, or null for every other.
 * What lies between the known start and the last brace is read alone: if it is an object, the whole frame is exactly
 * that object in its envelope, so its bytes can be passed on as they came.
 */
export function readThesis(frame: Uint8Array): TailRow | null {
  const end = frame.length - 1;
  if (end < PREFIX.length + 2 || frame[end] !== BRACE || frame[end - 1] !== BRACE) return null;
  if (!standsAt(frame, 0, PREFIX)) return null;
  const bytes = bufferOf(frame).subarray(PREFIX.length, end);
  const mark = scanRecord(bytes);
  return mark ? new UnreadRow(mark.id, mark.at, bytes) : parsed(bytes);
}

function parsed(bytes: Buffer): TailRow | null {
  const text = bytes.toString('utf8');
  const record = parseJson(text);
  if (!isObject(record)) return null;
  const id = record['id'];
  if (typeof id !== 'string' || id === '') return null;
  const oneLine = !text.includes('\n') && !text.includes('\r');
  return { id, at: timeOf(record[TIME_FIELD]), record, raw: oneLine ? bytes : null };
}

/** Any other frame, at leisure. */
export function readOdd(frame: Uint8Array): OddFrame {
  const value = parseJson(bufferOf(frame).toString('utf8'));
  if (value === undefined) return { kind: 'unreadable', why: 'a frame that is not JSON' };
  // A thesis needs an id to be passed on, and nothing else: an unknown form of a field must not cost the post.
  if (isObject(value) && value['type'] === 'thesis' && isObject(value['data'])) {
    const row = tailRow(value['data'], TIME_FIELD);
    return row ? { kind: 'row', row } : { kind: 'unreadable', why: 'a thesis without an id' };
  }
  const parsed = ServerFrameSchema.safeParse(value);
  if (!parsed.success || parsed.data.type === 'thesis') {
    return { kind: 'unreadable', why: 'a frame of an unknown form' };
  }
  return { kind: 'control', frame: parsed.data };
}

/** The row of a frame that holds one; `notify` hears of what is wrong with any other. */
export function readRow(raw: Uint8Array, notify: (text: string) => void): TailRow | null {
  const row = readThesis(raw);
  if (row) return row;
  const odd = readOdd(raw);
  if (odd.kind === 'row') return odd.row;
  if (odd.kind === 'unreadable') notify(odd.why);
  else if (odd.frame.type === 'error') notify(odd.frame.error);
  return null;
}

const bufferOf = (bytes: Uint8Array): Buffer =>
  bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
