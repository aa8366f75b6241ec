import type { PostMark } from '../row.ts';
import {
  afterScalar,
  afterText,
  hasEscape,
  isDigit,
  isPlain,
  QUOTE,
  SMALL_N,
  standsAt,
  ZERO,
} from './json-bytes.ts';

const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;

/** Where a thesis has its post time. */
export const TIME_FIELD = 'platformCreatedAt';
const ID = Buffer.from('id');
const TIME = Buffer.from(TIME_FIELD);

/** Kinds of brackets fit in the bits of a number. */
const MOST_DEPTH = 30;
/** Digits of a whole number that is held exactly. */
const MOST_DIGITS = 15;

/** The whole number between these places, or null where it is anything else. */
function wholeNumber(bytes: Uint8Array, from: number, to: number): number | null {
  if (to - from > MOST_DIGITS) return null;
  let value = 0;
  for (let i = from; i < to; i++) {
    const byte = bytes[i] ?? 0;
    if (!isDigit(byte)) return null;
    value = value * 10 + byte - ZERO;
  }
  return value;
}

/**
 * Id and post time of a record, found in its bytes without making anything of the rest: half the work of parsing.
 * An answer says that the bytes are valid JSON on one line, and that parsing them would give the same two. Whatever
 * is not written as services write it, without room between its parts, gives null: it has to be parsed.
 */
export function scanRecord(bytes: Buffer): PostMark | null {
  if (bytes[0] !== OPEN_OBJECT) return null;
  const plain = isPlain(bytes);
  let id: string | null = null;
  let at: number | null | undefined;
  let depth = 1;
  let inObject = true;
  // The kinds of what is open further out, innermost in the lowest bit.
  let outer = 0;
  let i = 1;
  for (;;) {
    let isId = false;
    let isTime = false;
    if (inObject) {
      if (bytes[i] !== QUOTE) return null;
      const from = i + 1;
      i = afterText(bytes, from, plain);
      if (i < 0 || bytes[i] !== COLON) return null;
      if (depth === 1) {
        if (!plain && hasEscape(bytes, from, i)) return null;
        isId = i - 1 - from === ID.length && standsAt(bytes, from, ID);
        isTime = i - 1 - from === TIME.length && standsAt(bytes, from, TIME);
      }
      i++;
    }
    const from = i;
    const first = bytes[i] ?? 0;
    const opens = first === OPEN_OBJECT || first === OPEN_ARRAY;
    if (isId) {
      // Parsing would take the last of two.
      if (first !== QUOTE || id !== null) return null;
      i = afterText(bytes, i + 1, plain);
      if (i - from <= 2 || (!plain && hasEscape(bytes, from, i))) return null;
      id = bytes.toString('utf8', from + 1, i - 1);
    } else if (opens && bytes[i + 1] !== first + 2) {
      if (isTime || depth === MOST_DEPTH) return null;
      outer = (outer << 1) | (inObject ? 1 : 0);
      inObject = first === OPEN_OBJECT;
      depth++;
      i++;
      continue;
    } else i = opens ? i + 2 : afterScalar(bytes, i, plain);
    if (i < 0) return null;
    if (isTime) {
      if (at !== undefined) return null;
      at = i - from === 4 && first === SMALL_N ? null : wholeNumber(bytes, from, i);
      if (at === null && first !== SMALL_N) return null;
    }
    // Every bracket closes two places behind the one that opens.
    while (bytes[i] === (inObject ? OPEN_OBJECT : OPEN_ARRAY) + 2) {
      i++;
      if (--depth === 0) return i === bytes.length && id !== null ? { id, at: at ?? null } : null;
      inObject = (outer & 1) === 1;
      outer >>= 1;
    }
    if (bytes[i++] !== COMMA) return null;
  }
}
