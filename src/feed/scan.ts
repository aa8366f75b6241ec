import type { Mark } from './row.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;
const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const SMALL_U = 0x75;

const ID = Buffer.from('id');
const TIME = Buffer.from('platformCreatedAt');
const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const NULL = Buffer.from('null');
/** What may follow a backslash, other than a number in hex. */
const ESCAPES = new Set(Buffer.from('"\\/bfnrt'));

const PLAIN = 0;
const STOP = 1;
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < SPACE || byte === QUOTE || byte === BACKSLASH ? STOP : PLAIN,
);

/** Kinds of brackets fit in the bits of a number. */
const MOST_DEPTH = 30;
/** Digits of a whole number that is held exactly. */
const MOST_DIGITS = 15;

/** Whether `word` stands at this place. */
function standsAt(bytes: Uint8Array, from: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[from + i] !== word[i]) return false;
  return true;
}

/** Where text stops to be plain: at a quote, a backslash, a control character, or the end. */
function afterLetters(bytes: Uint8Array, from: number): number {
  let i = from;
  // Four at a time: most of a record is text, and this loop is most of the work.
  for (const last = bytes.length - 4; i <= last; i += 4) {
    if ((kindAt(bytes, i) | kindAt(bytes, i + 1) | kindAt(bytes, i + 2) | kindAt(bytes, i + 3)) !== PLAIN)
      break;
  }
  while (i < bytes.length && kindAt(bytes, i) === PLAIN) i++;
  return i;
}

const kindAt = (bytes: Uint8Array, i: number): number => KINDS[bytes[i] ?? 0] ?? STOP;

/** The end of a text without escapes that begins here, or -1. */
function afterPlain(bytes: Uint8Array, from: number): number {
  const end = afterLetters(bytes, from);
  return bytes[end] === QUOTE ? end + 1 : -1;
}

/** The end of a text that begins here, or -1. */
function afterText(bytes: Uint8Array, from: number): number {
  for (let i = afterLetters(bytes, from); ; i = afterLetters(bytes, i)) {
    if (bytes[i] === QUOTE) return i + 1;
    if (bytes[i] !== BACKSLASH) return -1;
    const kind = bytes[i + 1] ?? 0;
    i += 2;
    if (kind === SMALL_U) {
      for (const end = i + 4; i < end; i++) if (!isHex(bytes[i] ?? 0)) return -1;
    } else if (!ESCAPES.has(kind)) return -1;
  }
}

const isHex = (byte: number): boolean =>
  (byte >= ZERO && byte <= NINE) || ((byte | SPACE) >= 0x61 && (byte | SPACE) <= 0x66);

function afterDigits(bytes: Uint8Array, from: number): number {
  let i = from;
  for (let byte = bytes[i] ?? 0; byte >= ZERO && byte <= NINE; byte = bytes[i] ?? 0) i++;
  return i > from ? i : -1;
}

/** The end of a number that begins here, or -1. */
function afterNumber(bytes: Uint8Array, from: number): number {
  const first = bytes[from] === MINUS ? from + 1 : from;
  let i = bytes[first] === ZERO ? first + 1 : afterDigits(bytes, first);
  if (i > 0 && bytes[i] === POINT) i = afterDigits(bytes, i + 1);
  if (i > 0 && ((bytes[i] ?? 0) | SPACE) === 0x65) {
    const sign = bytes[i + 1];
    i = afterDigits(bytes, i + (sign === PLUS || sign === MINUS ? 2 : 1));
  }
  return i;
}

/** The end of a value without members that begins here, or -1. */
function afterScalar(bytes: Uint8Array, from: number): number {
  const byte = bytes[from] ?? 0;
  if (byte === QUOTE) return afterText(bytes, from + 1);
  if (byte === MINUS || (byte >= ZERO && byte <= NINE)) return afterNumber(bytes, from);
  const word = byte === NULL[0] ? NULL : byte === TRUE[0] ? TRUE : FALSE;
  return standsAt(bytes, from, word) ? from + word.length : -1;
}

/** The whole number between these places, or null where it is anything else. */
function wholeNumber(bytes: Uint8Array, from: number, to: number): number | null {
  if (to - from > MOST_DIGITS) return null;
  let value = 0;
  for (let i = from; i < to; i++) {
    const byte = bytes[i] ?? 0;
    if (byte < ZERO || byte > NINE) return null;
    value = value * 10 + byte - ZERO;
  }
  return value;
}

/**
 * Id and post time of a record, found in its bytes without making anything of the rest: half the work of parsing.
 * An answer says that the bytes are valid JSON on one line, and that parsing them would give the same two. Whatever
 * is not written as services write it, without room between its parts, gives null: it has to be parsed.
 */
export function scanRecord(bytes: Buffer): Mark | null {
  if (bytes[0] !== OPEN_OBJECT) return null;
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
      // An escape in a name could make it one of the two.
      i = depth === 1 ? afterPlain(bytes, from) : afterText(bytes, from);
      if (i < 0 || bytes[i] !== COLON) return null;
      if (depth === 1) {
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
      i = afterPlain(bytes, i + 1);
      if (i - from <= 2) return null;
      id = bytes.toString('utf8', from + 1, i - 1);
    } else if (opens && bytes[i + 1] !== first + 2) {
      if (isTime || depth === MOST_DEPTH) return null;
      outer = (outer << 1) | (inObject ? 1 : 0);
      inObject = first === OPEN_OBJECT;
      depth++;
      i++;
      continue;
    } else i = opens ? i + 2 : afterScalar(bytes, i);
    if (i < 0) return null;
    if (isTime) {
      if (at !== undefined) return null;
      at = i - from === 4 && first === 0x6e ? null : wholeNumber(bytes, from, i);
      if (at === null && first !== 0x6e) return null;
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
