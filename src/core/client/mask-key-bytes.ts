import { keyFormsOf } from './key-forms.ts';
import { MIN_KEY_LENGTH, withoutKey } from './mask-key.ts';

/**
 * Creates a function that masks the key in bytes as `withoutKey` does, and returns the same object if they do not
 * contain the key. Every frame of the live feed passes through this function, so it must be fast for frames without
 * the key.
 */
export function createByteMask(key: string | undefined): (bytes: Uint8Array) => Uint8Array {
  if (!key || key.length < MIN_KEY_LENGTH) return (bytes) => bytes;
  const mayContainKey = searchForKey(key);
  return (bytes) => {
    const buffer =
      bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (!mayContainKey(buffer)) return bytes;
    const text = buffer.toString('utf8');
    const masked = withoutKey(text, key);
    return masked === text ? bytes : Buffer.from(masked);
  };
}

/** Creates a search that returns whether bytes may contain the key in one of its forms. False is certain. */
function searchForKey(key: string): (bytes: Buffer) => boolean {
  const { encodings, hasAnyBackslash } = keyFormsOf(key);
  const mayContainText = searchFor([key, ...encodings]);
  const escapeBytes = Buffer.from(hasAnyBackslash ? '\\' : '\\u00');
  return (bytes) =>
    mayContainText(bytes) ||
    (bytes.includes(BACKSLASH) && bytes.includes(escapeBytes)) ||
    hasPercentEncoding(bytes) ||
    hasCharacterReference(bytes);
}

/** Two bytes as an index. Dropping the bit in which the cases of a letter differ ignores case. */
const pairOf = (first: number, second: number): number => ((first & 0xdf) << 8) | (second & 0xdf);

/**
 * Creates a search for several texts at once, in any case: the Wu-Manber algorithm. It looks only at some
 * pairs of bytes, so it is faster than a search for each text, and may find a text that is not there.
 */
function searchFor(texts: readonly string[]): (bytes: Buffer) => boolean {
  const length = Math.min(255, ...texts.map((text) => text.length));
  const shifts = new Uint8Array(0x10000).fill(length - 1);
  for (const text of texts) {
    for (let end = 1; end < length; end++) {
      const pair = pairOf(text.charCodeAt(end - 1), text.charCodeAt(end));
      shifts[pair] = Math.min(shifts[pair] ?? 0, length - 1 - end);
    }
  }
  return (bytes) => {
    for (let at = length - 1; at < bytes.length; ) {
      const shift = shifts[pairOf(bytes[at - 1] ?? 0, bytes[at] ?? 0)] ?? 0;
      if (shift === 0) return true;
      at += shift;
    }
    return false;
  };
}

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const HASH = 0x23;

/** Whether bytes contain a percent-encoded byte. A percent sign alone is frequent in posts. */
function hasPercentEncoding(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(PERCENT); at !== -1; at = bytes.indexOf(PERCENT, at + 1)) {
    if (isHexDigit(bytes[at + 1]) && isHexDigit(bytes[at + 2])) return true;
  }
  return false;
}

function hasCharacterReference(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(AMPERSAND); at !== -1; at = bytes.indexOf(AMPERSAND, at + 1)) {
    if (bytes[at + 1] === HASH || isLetter(bytes[at + 1])) return true;
  }
  return false;
}

const isLetter = (code = 0) => (code | 32) >= 97 && (code | 32) <= 122;
const isHexDigit = (code = 0) => (code >= 48 && code <= 57) || ((code | 32) >= 97 && (code | 32) <= 102);
