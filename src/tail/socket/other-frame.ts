import { parseJson } from '../../base/json.ts';
import { isRecord } from '../../base/json-object.ts';
import { type PostFields, type TailRow, tailRow } from '../row.ts';

/** The field with the post time of a thesis. */
export const TIME_FIELD = 'platformCreatedAt';

/**
 * The content of a frame. Much of the format is undocumented, so frames are recognized by their content
 * instead of being validated.
 */
export type ReadFrame =
  | { readonly kind: 'row'; readonly row: TailRow }
  /** A post without an id, whose repetitions cannot be recognized. */
  | { readonly kind: 'nameless'; readonly record: PostFields }
  /** The response to a subscribe frame, with the confirmed subscription if the response states it. */
  | { readonly kind: 'subscription' }
  | { readonly kind: 'error'; readonly text: string }
  /** An informational frame, such as a greeting or a heartbeat. */
  | { readonly kind: 'note' }
  | { readonly kind: 'unreadable'; readonly why: string };

const TYPE_NAMES = ['type', 'event', 'kind', 'op'] as const;
const DATA_NAMES = ['data', 'thesis', 'payload', 'item', 'record'] as const;
const WRAPPERS = ['data', 'payload', 'message', 'frame', 'event', 'body'] as const;
const NOTES =
  /^(replaced|ready|hello|welcome|connected|connection|ping|pong|heartbeat|keep-?alive|unsubscri\w*)$/i;
const ACKNOWLEDGEMENTS = /^(subscri\w*|ack\w*|ok|success|confirm\w*|joined)$/i;
const POSTS = /^(thesis|theses|post|posts)$/i;
/** How many envelopes may be nested. */
const MAX_DEPTH = 3;
/** The maximum number of characters of text from the service in a message. */
const MAX_TEXT = 200;

/** Reads any frame. A frame can contain several posts. */
export function readOtherFrame(text: string): ReadFrame[] {
  const value = parseJson(text);
  return value === undefined
    ? [{ kind: 'unreadable', why: 'a frame that is not JSON' }]
    : framesOf(value, MAX_DEPTH);
}

function framesOf(value: unknown, depth: number): ReadFrame[] {
  if (Array.isArray(value) && depth > 0) return value.flatMap((each) => framesOf(each, depth - 1));
  if (!isRecord(value)) return [{ kind: 'unreadable', why: 'a frame that is not an object' }];
  const type = textIn(value, TYPE_NAMES);
  if (type !== undefined && POSTS.test(type)) return postsOf(value, depth);
  if (type !== undefined && NOTES.test(type)) return [{ kind: 'note' }];
  if (type !== undefined && ACKNOWLEDGEMENTS.test(type)) return [{ kind: 'subscription' }];
  if (/^err/i.test(type ?? '') || (value['error'] ?? null) !== null)
    return [{ kind: 'error', text: errorText(value) }];
  if ('subscription' in value) return [{ kind: 'subscription' }];
  if ('connectionId' in value) return [{ kind: 'note' }];
  if (looksLikePost(value)) return postsOf({ data: value }, depth);
  const inner = WRAPPERS.map((name) => unpacked(value[name])).find(isComposite);
  if (inner !== undefined && depth > 0) return framesOf(inner, depth - 1);
  return [
    { kind: 'unreadable', why: `a frame of unknown type${type === undefined ? '' : ` ${quoted(type)}`}` },
  ];
}

/** The posts of a thesis frame. They are in the first of the `DATA_NAMES` members that is an object or a list. */
function postsOf(frame: PostFields, depth: number): ReadFrame[] {
  const data = DATA_NAMES.map((name) => unpacked(frame[name])).find(isComposite);
  if (Array.isArray(data))
    return data.flatMap((each) => (isRecord(each) ? postsOf({ data: each }, depth) : []));
  if (!isRecord(data)) {
    // Without such a member, the frame itself may be a post.
    const { type: _, ...record } = frame;
    if (looksLikePost(record)) return postsOf({ data: record }, depth);
    return [{ kind: 'unreadable', why: 'a thesis frame without a thesis' }];
  }
  const row = tailRow(data, TIME_FIELD);
  if (row) return [{ kind: 'row', row }];
  const inner = DATA_NAMES.map((name) => data[name]).find(isRecord);
  return inner !== undefined && depth > 0
    ? postsOf({ data: inner }, depth - 1)
    : [{ kind: 'nameless', record: data }];
}

const looksLikePost = (value: PostFields): boolean =>
  'id' in value && ('thesis' in value || 'tokenAddress' in value || TIME_FIELD in value);

function errorText(value: PostFields): string {
  const { error } = value;
  const parts = isRecord(error)
    ? [error['code'], error['message']]
    : [error, value['code'], value['message']];
  const text = parts.filter((part) => typeof part === 'string' && part !== '').join(': ');
  return bounded(text === '' ? JSON.stringify(value) : text);
}

const textIn = (value: PostFields, names: readonly string[]): string | undefined =>
  names.map((name) => value[name]).find((each) => typeof each === 'string');

/** Parses a member whose value is JSON text; returns any other member unchanged. */
function unpacked(value: unknown): unknown {
  return typeof value === 'string' && /^\s*[[{]/.test(value) ? parseJson(value) : value;
}

const quoted = (text: string) => JSON.stringify(bounded(text));
const bounded = (text: string) => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

const isComposite = (value: unknown): boolean => typeof value === 'object' && value !== null;
