/** The forms in which a service or a proxy may repeat a key, and how to find them. */
export interface KeyForms {
  readonly lower: string;
  /** A text that this pattern does not match does not contain the key with escaped characters. */
  readonly escapeStart: RegExp;
  /** Matches the key in any case, with any of its characters escaped. */
  readonly escapable: RegExp;
  /** The parts of the key's base64 and hex encodings that do not depend on the text around the key. */
  readonly encodings: readonly string[];
  /** Whether bytes may contain the key in one of its forms. False is certain. */
  readonly mayBeIn: (bytes: Buffer) => boolean;
}

/** The forms of each key. A run has one key, or two during a login. */
const known = new Map<string, KeyForms>();

export function keyFormsOf(key: string): KeyForms {
  const found = known.get(key);
  if (found) return found;
  const hex = Buffer.from(key).toString('hex');
  const encodings = [...new Set([0, 1, 2].flatMap((lead) => base64Of(key, lead))), hex, hex.toUpperCase()];
  // JSON escapes letters and digits only as \u00XX.
  const anyBackslash = /["'\\/]/.test(key);
  const backslash = Buffer.from(anyBackslash ? '\\' : '\\u00');
  let hasLiteral: ((bytes: Buffer) => boolean) | undefined;
  const forms = {
    lower: key.toLowerCase(),
    escapeStart: anyBackslash ? /\\|%[\da-f]{2}|&[#a-z]/i : /\\u00|%[\da-f]{2}|&[#a-z]/i,
    // A match begins at the first of several backslashes. If it began at each of them, a text of many backslashes
    // would take quadratic time.
    escapable: new RegExp(`(?<!\\\\(?=\\\\))${[...key].map(escapesOf).join('')}`, 'g'),
    encodings,
    mayBeIn(bytes: Buffer) {
      hasLiteral ??= searchFor([key, ...encodings]);
      return (
        hasLiteral(bytes) ||
        (bytes.includes(BACKSLASH) && bytes.includes(backslash)) ||
        hasPercentEncoding(bytes) ||
        hasCharacterReference(bytes)
      );
    },
  };
  known.set(key, forms);
  return forms;
}

const named: Readonly<Record<string, string>> = {
  '"': 'quot',
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  "'": 'apos',
};

/**
 * A pattern for one character in any case: plain, after backslashes, as a JSON escape of any depth,
 * percent-encoded, or as an HTML character reference.
 */
function escapesOf(char: string): string {
  const cases = [...new Set([char.toLowerCase(), char.toUpperCase()])];
  const codes = cases.map((one) => one.charCodeAt(0));
  const hexes = codes.map((code) => code.toString(16));
  const hex = `(?:${hexes.map((code) => code.replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`)).join('|')})`;
  const literal = /[A-Za-z0-9]/.test(char) ? `[${cases.join('')}]` : `\\\\*\\x${hexes[0]}`;
  const html = [`#0*(?:${codes.join('|')})`, `#[xX]0*${hex}`, ...(named[char] ? [named[char]] : [])].join(
    '|',
  );
  return `(?:${literal}|\\\\+u00${hex}|%(?:25)*${hex}|&(?:amp;)*(?:${html});?)`;
}

/**
 * The base64 characters that depend on the key alone. `lead` is the number of bytes before the key in the
 * group of three bytes in which the key begins.
 */
function base64Of(key: string, lead: number): string[] {
  const bytes = Buffer.concat([Buffer.alloc(lead), Buffer.from(key)]);
  const start = Math.ceil((lead * 8) / 6);
  const end = Math.floor((bytes.length * 8) / 6);
  return (['base64', 'base64url'] as const).map((encoding) => bytes.toString(encoding).slice(start, end));
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
