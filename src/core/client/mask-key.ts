import { Failure } from '../../base/failure.ts';
import { bareHandle } from '../../contract/handles.ts';

/** A shorter key may be an ordinary word, and masking that word would change answers. */
const MIN_KEY_LENGTH = 8;

/**
 * Its prefix (`xx_live_`, `xx_test_`) and, if the rest is long enough to stay secret, its last four
 * characters.
 */
export function maskKey(key: string): string {
  const [, kind = '', secret = ''] = /^([A-Za-z0-9]+_(?:live|test)_)?(.*)$/s.exec(key) ?? [];
  return `${kind}****${secret.length >= 12 ? secret.slice(-4) : ''}`;
}

/**
 * The forms in which a service or a proxy may repeat a key: as it is, percent-encoded, and
 * JSON-escaped.
 */
function formsOf(key: string): readonly string[] {
  const percent = encodeURIComponent(key);
  const json = JSON.stringify(key).slice(1, -1);
  // Some serializers also escape slashes, or the characters that HTML interprets.
  const forHtml = json.replace(/[<>&']/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
  const lower = percent.replace(/%../g, (code) => code.toLowerCase());
  return [...new Set([key, percent, lower, json, json.replaceAll('/', '\\/'), forHtml])];
}

export function withoutKey(text: string, key: string | undefined): string {
  if (!key || key.length < MIN_KEY_LENGTH) return text;
  // Replace with a function, because `$&` in a replacement string would insert the key.
  return formsOf(key).reduce((masked, form) => masked.replaceAll(form, () => maskKey(key)), text);
}

/**
 * Masks bytes like `withoutKey`, and returns the same object without the key: every frame passes
 * through here.
 */
export function createByteMask(key: string | undefined): (bytes: Uint8Array) => Uint8Array {
  if (!key || key.length < MIN_KEY_LENGTH) return (bytes) => bytes;
  // Search from the last underscore on: a search skips to its first byte, and underscores are rare
  // in frames.
  const parts = formsOf(key).map((form) =>
    Buffer.from(form.slice(Math.max(0, form.lastIndexOf('_', form.length - MIN_KEY_LENGTH)))),
  );
  return (bytes) => {
    const { buffer, byteOffset, byteLength } = bytes;
    const chunk = bytes instanceof Buffer ? bytes : Buffer.from(buffer, byteOffset, byteLength);
    if (!parts.some((part) => chunk.includes(part))) return bytes;
    const text = chunk.toString('utf8');
    const masked = withoutKey(text, key);
    return masked === text ? bytes : Buffer.from(masked);
  };
}

const KEY_FORM = /(?<![A-Za-z0-9])[A-Za-z0-9]+_(?:live|test)_([A-Za-z0-9_-]{8,})/g;
const WHOLE_KEY = new RegExp(`^${KEY_FORM.source}$`);

/** It must contain a digit or be long, because `fx_live_trading` could be a handle. */
const isSecret = (text: string): boolean => /\d/.test(text) || text.length >= 16;

/** Masks everything in a text that looks like a key, because users may paste one as an argument. */
export const withoutKeys = (text: string): string =>
  text.replace(KEY_FORM, (word, secret: string) => (isSecret(secret) ? maskKey(word) : word));

export function isKey(word: string, key?: string): boolean {
  const bare = bareHandle(word);
  if (key !== undefined && key.length >= MIN_KEY_LENGTH && bare.includes(key)) return true;
  const secret = WHOLE_KEY.exec(bare)?.[1];
  return secret !== undefined && isSecret(secret);
}

export const keyAsSubject = (word: string, key?: string): Failure =>
  new Failure('usage', `${withoutKeys(withoutKey(word, key))}: this is an API key, not a subject`, {
    code: 'BAD_SUBJECT',
    hint: 'save the key with "trdr auth login" or set TRDR_API_KEY; revoke it if others may have seen this command line',
  });
