import { parseJson } from '../../base/json.ts';
import { isRecord, plainJson } from '../../base/json-object.ts';
import { type PostFields, type TailRow, tailRow } from '../row.ts';
import { type ReadFrame, readOtherFrame, TIME_FIELD } from './other-frame.ts';

const PREFIX = Buffer.from('{"type":"thesis","data":');
const BRACE = 0x7d;

/** A post with its original bytes. The record is parsed on first use, with all digits of its numbers. */
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
    const fields = isRecord(value) ? value : { id: this.id };
    this.fields = fields;
    return fields;
  }
}

/**
 * The row of a thesis frame in the documented format; null for any other frame. Parses the text between the
 * known beginning of the frame and its last brace. If this text is an object, it is exactly the record, and
 * its bytes can be printed unchanged.
 * @internal Exported for tests.
 */
export function readThesis(frame: Uint8Array): TailRow | null {
  const bytes = bufferOf(frame);
  const end = bytes.length - 1;
  if (end < PREFIX.length + 2 || bytes[end] !== BRACE || bytes[end - 1] !== BRACE) return null;
  if (bytes.compare(PREFIX, 0, PREFIX.length, 0, PREFIX.length) !== 0) return null;
  const raw = bytes.subarray(PREFIX.length, end);
  const record = plainJson(raw.toString('utf8'));
  const row = isRecord(record) && typeof record['id'] === 'string' ? tailRow(record, TIME_FIELD) : null;
  return row && new RawRow(row.id, row.at, raw);
}

/** Reads any frame. A frame can contain several posts. */
export function readFrame(frame: Uint8Array): ReadFrame[] {
  const row = readThesis(frame);
  return row ? [{ kind: 'row', row }] : readOtherFrame(bufferOf(frame).toString('utf8'));
}

const bufferOf = (bytes: Uint8Array): Buffer =>
  bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
