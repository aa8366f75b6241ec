/** The forms in which a service or a proxy may repeat a key, and how to find them. */
export interface KeyForms {
  readonly lower: string;
  /**
   * Whether the key has a quote, slash or backslash, which can be escaped by a backslash alone, as in `\"`. JSON
   * escapes all other characters of a key only as \u00XX.
   */
  readonly hasAnyBackslash: boolean;
  /** A text that this pattern does not match does not contain the key with escaped characters. */
  readonly escapeStart: RegExp;
  /** Matches the key in any case, with any of its characters escaped. Compiling it takes five milliseconds. */
  readonly escapable: RegExp;
  /** The parts of the key's base64 and hex encodings that do not depend on the text around the key. */
  readonly encodings: readonly string[];
}

/** The forms of each key. A run has one key, or two during a login. */
const known = new Map<string, KeyForms>();

export function keyFormsOf(key: string): KeyForms {
  const found = known.get(key);
  if (found) return found;
  const hex = Buffer.from(key).toString('hex');
  const encodings = [...new Set([0, 1, 2].flatMap((lead) => base64Of(key, lead))), hex, hex.toUpperCase()];
  const hasAnyBackslash = /["'\\/]/.test(key);
  const forms = {
    lower: key.toLowerCase(),
    hasAnyBackslash,
    escapeStart: hasAnyBackslash ? /\\|%[\da-f]{2}|&[#a-z]/i : /\\u00|%[\da-f]{2}|&[#a-z]/i,
    // A match begins at the first of several backslashes. If it began at each of them, a text of many backslashes
    // would take quadratic time.
    escapable: new RegExp(`(?<!\\\\(?=\\\\))${[...key].map(escapesOf).join('')}`, 'g'),
    encodings,
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
 * A pattern for one character in any case: plain, after backslashes (unless it is a letter or digit), as a
 * JSON escape of any depth, percent-encoded, or as an HTML character reference.
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
