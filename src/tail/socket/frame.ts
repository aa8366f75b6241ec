import { parseJson } from '../../base/json.ts';
import { isRecord, plainJson } from '../../base/json-object.ts';
import { type PostFields, type TailRow, tailRow } from '../post-row.ts';

/** The field with the post time of a thesis. */
const TIME_FIELD = 'platformCreatedAt';

/**
 * The content of a frame. Fields may be missing or have other types, and a frame may be wrapped in
 * `data`.
 */
export type ReadFrame =
  | { readonly kind: 'row'; readonly row: TailRow }
  /** A post without an id, whose repetitions cannot be recognized. */
  | { readonly kind: 'nameless'; readonly record: PostFields }
  | { readonly kind: 'error'; readonly text: string }
  /**
   * The greeting of a connection. Every other frame that is not an error confirms the subscription.
   */
  | { readonly kind: 'ready' }
  | { readonly kind: 'known' }
  | { readonly kind: 'unreadable'; readonly why: string };

const PREFIX = Buffer.from('{"type":"thesis","data":');
const BRACE = 0x7d;

/**
 * A post with its original bytes. The record is parsed on first use, with all digits of its
 * numbers.
 */
class RawRow implements TailRow {
  readonly id: string;
  readonly at: number | null;
  readonly author: PostFields;
  readonly raw: Buffer;
  private fields: PostFields | undefined;

  constructor({ id, at, record }: TailRow, raw: Buffer) {
    this.id = id;
    this.at = at;
    this.author = { authorId: record['authorId'], authorHandle: record['authorHandle'] };
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
 * Null for other frames. What lies between the known beginning and the last brace is exactly the
 * record, if it is JSON.
 * @internal Exported for tests.
 */
export function readThesis(frame: Uint8Array): TailRow | null {
  const bytes = bufferOf(frame);
  const end = bytes.length - 1;
  if (end < PREFIX.length + 2 || bytes[end] !== BRACE || bytes[end - 1] !== BRACE) return null;
  if (bytes.compare(PREFIX, 0, PREFIX.length, 0, PREFIX.length) !== 0) return null;
  const raw = bytes.subarray(PREFIX.length, end);
  const record = plainJson(raw.toString('utf8'));
  const row =
    isRecord(record) && typeof record['id'] === 'string' ? tailRow(record, TIME_FIELD) : null;
  return row && new RawRow(row, raw);
}

/** Reads any frame. */
export function readFrame(frame: Uint8Array): ReadFrame {
  const row = readThesis(frame);
  return row ? { kind: 'row', row } : readOtherFrame(bufferOf(frame).toString('utf8'));
}

/** @internal Exported for tests. */
export function readOtherFrame(text: string): ReadFrame {
  const value = parseJson(text);
  if (value === undefined) return unreadable('a frame that is not JSON');
  if (!isRecord(value)) return unreadable('a frame that is not an object');
  const { data } = value;
  return frameOf(value['type'] === undefined && isRecord(data) && !isPost(data) ? data : value);
}

function frameOf(frame: PostFields): ReadFrame {
  const { type, error, data, ...rest } = frame;
  if (type === 'error' || (error ?? null) !== null)
    return { kind: 'error', text: errorText(frame) };
  if (type === 'ready' || (typeof type !== 'string' && 'connectionId' in frame))
    return { kind: 'ready' };
  if (type === 'subscription' || type === 'replaced' || type === 'pong') return { kind: 'known' };
  const post = isRecord(data) ? data : rest;
  if (isPost(post) || (type === 'thesis' && isRecord(data))) return postOf(post);
  if (type === 'thesis') return unreadable('a thesis frame without a thesis');
  if (typeof type !== 'string' && 'subscription' in frame) return { kind: 'known' };
  return unreadable(`a frame of unknown type${typeof type === 'string' ? ` ${quoted(type)}` : ''}`);
}

function postOf(post: PostFields): ReadFrame {
  const { data } = post;
  const record = post['id'] === undefined && isRecord(data) ? data : post;
  const row = tailRow(record, TIME_FIELD);
  return row ? { kind: 'row', row } : { kind: 'nameless', record };
}

const isPost = (value: PostFields): boolean =>
  'id' in value && ('thesis' in value || 'tokenAddress' in value || TIME_FIELD in value);

const unreadable = (why: string): ReadFrame => ({ kind: 'unreadable', why });

function errorText(frame: PostFields): string {
  const { error } = frame;
  const parts = isRecord(error)
    ? [error['code'], error['message']]
    : [error, frame['code'], frame['message']];
  const text = parts.filter((part) => typeof part === 'string' && part !== '').join(': ');
  return bounded(text === '' ? JSON.stringify(frame) : text);
}

/** The maximum number of characters of text from the service in a message. */
const MAX_TEXT = 200;

const quoted = (text: string) => JSON.stringify(bounded(text));
const bounded = (text: string) => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

const bufferOf = (bytes: Uint8Array): Buffer =>
  bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
