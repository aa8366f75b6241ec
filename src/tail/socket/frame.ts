import { parseJson } from '../../base/json.ts';
import { type PostFields, type TailRow, tailRow } from '../row.ts';
import { isFields, type ReadFrame, readOtherFrame, TIME_FIELD } from './other-frame.ts';

const PREFIX = Buffer.from('{"type":"thesis","data":');
const BRACE = 0x7d;

/** A post that is passed on as it came. Its record, with the digits of its numbers, is read only where it is used. */
class RawRow implements TailRow {
  readonly id: string;
  readonly at: number | null;
  readonly raw: Buffer;
  private fields: PostFields | undefined;

  constructor(id: string, at: number | null, raw: Buffer) {
    this.id = id;
    this.at = at;
    this.raw = raw;
  }

  get record(): PostFields {
    if (this.fields) return this.fields;
    const value = parseJson(this.raw.toString('utf8'));
    const fields = isFields(value) ? value : { id: this.id };
    this.fields = fields;
    return fields;
  }
}

/**
 * The row of a thesis frame in the form that is described, or null for every other frame.
 * What lies between the known start and the last brace is parsed alone: if it is an object, the whole frame is exactly
 * that object in its envelope, so its bytes can be passed on as they came.
 */
export function readThesis(frame: Uint8Array): TailRow | null {
  const bytes = bufferOf(frame);
  const end = bytes.length - 1;
  if (end < PREFIX.length + 2 || bytes[end] !== BRACE || bytes[end - 1] !== BRACE) return null;
  if (bytes.compare(PREFIX, 0, PREFIX.length, 0, PREFIX.length) !== 0) return null;
  const raw = bytes.subarray(PREFIX.length, end);
  const text = raw.toString('utf8');
  const record = parsed(text);
  const row = isFields(record) && typeof record['id'] === 'string' ? tailRow(record, TIME_FIELD) : null;
  return row && !text.includes('\n') && !text.includes('\r') ? new RawRow(row.id, row.at, raw) : null;
}

/** Reads any frame; one can hold several posts. */
export function readFrame(frame: Uint8Array): ReadFrame[] {
  const row = readThesis(frame);
  return row ? [{ kind: 'row', row }] : readOtherFrame(bufferOf(frame).toString('utf8'));
}

/** Plain and fast: the built-in parser alone. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const bufferOf = (bytes: Uint8Array): Buffer =>
  bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
