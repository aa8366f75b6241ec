const BACKSLASH = 0x5c;
const SPACE = 0x20;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const NINE = 0x39;
const SMALL_T = 0x74;
const SMALL_U = 0x75;
export const QUOTE = 0x22;
export const ZERO = 0x30;
export const SMALL_N = 0x6e;

const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const NULL = Buffer.from('null');
/** What may follow a backslash, other than a number in hex. */
const ESCAPES = new Set(Buffer.from('"\\/bfnrt'));

/** Whether `word` stands at this place. */
export function standsAt(bytes: Uint8Array, from: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[from + i] !== word[i]) return false;
  return true;
}

let viewed: ArrayBufferLike | undefined;
let words: Int32Array = new Int32Array();

/** Whether there is a control character in these bytes, four of which are looked at as one number. */
function hasControl(bytes: Uint8Array): boolean {
  const { buffer, byteOffset, length } = bytes;
  // Frames that follow each other mostly lie in one piece of memory.
  if (buffer !== viewed) {
    viewed = buffer;
    words = new Int32Array(buffer, 0, buffer.byteLength >> 2);
  }
  const first = (byteOffset + 3) >> 2;
  const last = (byteOffset + length) >> 2;
  let found = 0;
  for (let i = first; i < last; i++) {
    const word = words[i] ?? 0;
    // A byte that is less than a space sets its highest bit.
    found |= (word - 0x20202020) & ~word;
  }
  if ((found & 0x80808080) !== 0) return true;
  const head = Math.min(first * 4 - byteOffset, length);
  for (let i = 0; i < head; i++) if ((bytes[i] ?? 0) < SPACE) return true;
  for (let i = Math.max(last * 4 - byteOffset, 0); i < length; i++) if ((bytes[i] ?? 0) < SPACE) return true;
  return false;
}

/** Whether no text in these bytes has an escape or a control character: its end is then the next quote. */
export const isPlain = (bytes: Buffer): boolean => !bytes.includes(BACKSLASH) && !hasControl(bytes);

/** Bytes looked at one by one: a native search is faster only for a long way. */
const NEAR = 16;

/** The end of a text that begins here, in plain bytes, or -1. */
function afterPlainText(bytes: Buffer, from: number): number {
  const near = Math.min(from + NEAR, bytes.length);
  for (let i = from; i < near; i++) if (bytes[i] === QUOTE) return i + 1;
  return bytes.indexOf(QUOTE, near) + 1 || -1;
}

/** The same in any bytes. */
function afterAnyText(bytes: Uint8Array, from: number): number {
  for (let i = from; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === QUOTE) return i + 1;
    if (byte < SPACE) return -1;
    if (byte !== BACKSLASH) continue;
    const kind = bytes[++i] ?? 0;
    if (kind === SMALL_U) {
      for (const end = i + 4; i < end; i++) if (!isHex(bytes[i + 1] ?? 0)) return -1;
    } else if (!ESCAPES.has(kind)) return -1;
  }
  return -1;
}

/** The end of a text whose first letter is here, or -1. `plain` is what `isPlain` says of all the bytes. */
export const afterText = (bytes: Buffer, from: number, plain: boolean): number =>
  plain ? afterPlainText(bytes, from) : afterAnyText(bytes, from);

/** Whether a text is not what it looks like. */
export function hasEscape(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i] === BACKSLASH) return true;
  return false;
}

/** Whether this is the code of a digit. */
export const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;

const isHex = (byte: number): boolean => isDigit(byte) || ((byte | SPACE) >= 0x61 && (byte | SPACE) <= 0x66);

function afterDigits(bytes: Uint8Array, from: number): number {
  let i = from;
  while (isDigit(bytes[i] ?? 0)) i++;
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
export function afterScalar(bytes: Buffer, from: number, plain: boolean): number {
  const byte = bytes[from] ?? 0;
  if (byte === QUOTE) return afterText(bytes, from + 1, plain);
  if (byte === MINUS || isDigit(byte)) return afterNumber(bytes, from);
  const word = byte === SMALL_N ? NULL : byte === SMALL_T ? TRUE : FALSE;
  return standsAt(bytes, from, word) ? from + word.length : -1;
}
