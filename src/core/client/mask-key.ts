import { Failure } from '../../base/failure.ts';

/**
 * Keys shorter than this are not masked: a short key may be an ordinary word, and masking that word would
 * change answers.
 */
const MIN_LENGTH = 8;

/**
 * The masked form of a key for messages: its prefix (`xx_live_`, `xx_test_`) and, if the rest is long enough
 * to stay secret, its last four characters.
 */
export function maskKey(key: string): string {
  const [, kind = '', secret = ''] = /^([A-Za-z0-9]+_(?:live|test)_)?(.*)$/s.exec(key) ?? [];
  return `${kind}****${secret.length >= 12 ? secret.slice(-4) : ''}`;
}

/**
 * Masks the key wherever a text contains it, also if it is JSON-escaped, percent-encoded, or in base64 or
 * hex.
 */
export function withoutKey(text: string, key: string | undefined): string {
  if (!key || key.length < MIN_LENGTH) return text;
  const { escapable, encodings } = formsOf(key);
  // Replace with a function, because `$&` in a replacement string would insert the key.
  const mask = () => maskKey(key);
  let masked = text.includes(key) ? text.replaceAll(key, mask) : text;
  if (/[\\%]/.test(masked)) masked = masked.replace(escapable, mask);
  for (const encoding of encodings) {
    if (masked.includes(encoding)) masked = masked.replaceAll(encoding, '****');
  }
  return masked;
}

const BACKSLASH = 0x5c;
const ESCAPE = Buffer.from('\\u00');

/** Masks the key in bytes; returns the same object if they do not contain the key. */
export function withoutKeyBytes(bytes: Uint8Array, key: string | undefined): Uint8Array {
  if (!key || key.length < MIN_LENGTH) return bytes;
  const buffer =
    bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const escaped = buffer.includes(BACKSLASH) && buffer.includes(ESCAPE);
  if (!escaped && !buffer.includes(formsOf(key).end)) return bytes;
  const text = buffer.toString('utf8');
  const masked = withoutKey(text, key);
  return masked === text ? bytes : Buffer.from(masked);
}

interface Forms {
  /** The last characters of the key, for a quick test: they are random, so other texts rarely contain them. */
  readonly end: Buffer;
  /** Matches the key with any of its characters escaped. */
  readonly escapable: RegExp;
  /** The parts of the key's base64 and hex encodings that do not depend on the text around the key. */
  readonly encodings: readonly string[];
}

/** The forms of each key, computed once. A run has one key, or two during a login. */
const known = new Map<string, Forms>();

function formsOf(key: string): Forms {
  const found = known.get(key);
  if (found) return found;
  const hex = Buffer.from(key).toString('hex');
  const forms = {
    end: Buffer.from(key).subarray(-MIN_LENGTH),
    escapable: new RegExp([...key].map(escapesOf).join(''), 'g'),
    encodings: [...new Set([0, 1, 2].flatMap((lead) => base64Of(key, lead))), hex, hex.toUpperCase()],
  };
  known.set(key, forms);
  return forms;
}

/**
 * A pattern for one character: plain, after backslashes, as a JSON escape of any depth, or percent-encoded.
 */
function escapesOf(char: string): string {
  const hex = char.charCodeAt(0).toString(16).padStart(2, '0');
  const anyCase = [...hex].map((digit) => `[${digit}${digit.toUpperCase()}]`).join('');
  const literal = /[A-Za-z0-9]/.test(char) ? char : `\\\\*\\x${hex}`;
  return `(?:${literal}|\\\\+u00${anyCase}|%(?:25)*${anyCase})`;
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

const KEY_FORM = /(?<![A-Za-z0-9])[A-Za-z0-9]+_(?:live|test)_([A-Za-z0-9_-]{8,})/g;
const WHOLE_KEY = new RegExp(`^${KEY_FORM.source}$`);

/**
 * Whether the part after the prefix makes a word a key. It must contain a digit or be long, because
 * `fx_live_trading` could be a handle.
 */
const isSecret = (text: string): boolean => /\d/.test(text) || text.length >= 16;

/** Masks everything in a text that looks like a key, because users may paste one as an argument. */
export const withoutKeys = (text: string): string =>
  text.replace(KEY_FORM, (found, secret: string) => (isSecret(secret) ? maskKey(found) : found));

/** Whether a word contains the current key, or looks like a key. */
export function isKey(word: string, key?: string): boolean {
  const bare = word.startsWith('@') ? word.slice(1) : word;
  if (key !== undefined && key.length >= MIN_LENGTH && bare.includes(key)) return true;
  const secret = WHOLE_KEY.exec(bare)?.[1];
  return secret !== undefined && isSecret(secret);
}

/** The error for a subject that is an API key. The message shows the key masked. */
export const keyAsSubject = (word: string, key?: string): Failure =>
  new Failure('usage', `${withoutKeys(withoutKey(word, key))}: this is an API key, not a subject`, {
    code: 'BAD_SUBJECT',
    hint: 'save the key with "trdr auth login" or set TRDR_API_KEY; revoke it if others may have seen this command line',
  });
