import { Failure } from '../../base/failure.ts';
import { keyFormsOf } from './key-forms.ts';

/**
 * Keys shorter than this are not masked: a short key may be an ordinary word, and masking that word would
 * change answers.
 */
export const MIN_KEY_LENGTH = 8;

/**
 * The masked form of a key for messages: its prefix (`xx_live_`, `xx_test_`) and, if the rest is long enough
 * to stay secret, its last four characters.
 */
export function maskKey(key: string): string {
  const [, kind = '', secret = ''] = /^([A-Za-z0-9]+_(?:live|test)_)?(.*)$/s.exec(key) ?? [];
  return `${kind}****${secret.length >= 12 ? secret.slice(-4) : ''}`;
}

/**
 * Masks the key wherever a text contains it, also in another case, JSON-escaped, percent-encoded, as HTML, or
 * in base64 or hex.
 */
export function withoutKey(text: string, key: string | undefined): string {
  if (!key || key.length < MIN_KEY_LENGTH) return text;
  const forms = keyFormsOf(key);
  // Replace with a function, because `$&` in a replacement string would insert the key.
  const mask = () => maskKey(key);
  let masked = text.includes(key) ? text.replaceAll(key, mask) : text;
  if (forms.escapeStart.test(masked) || masked.toLowerCase().includes(forms.lower)) {
    masked = masked.replace(forms.escapable, mask);
  }
  for (const encoding of forms.encodings) {
    if (masked.includes(encoding)) masked = masked.replaceAll(encoding, '****');
  }
  return masked;
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
  if (key !== undefined && key.length >= MIN_KEY_LENGTH && bare.includes(key)) return true;
  const secret = WHOLE_KEY.exec(bare)?.[1];
  return secret !== undefined && isSecret(secret);
}

/** The error for a subject that is an API key. The message shows the key masked. */
export const keyAsSubject = (word: string, key?: string): Failure =>
  new Failure('usage', `${withoutKeys(withoutKey(word, key))}: this is an API key, not a subject`, {
    code: 'BAD_SUBJECT',
    hint: 'save the key with "trdr auth login" or set TRDR_API_KEY; revoke it if others may have seen this command line',
  });
