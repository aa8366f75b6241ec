import { isAscii } from 'node:buffer';
import { parseJson, stringifyJson } from '../../base/json.ts';
import { safeJson } from '../terminal/safe-text.ts';

/** A record as one line of JSON, without the line feed. */
export const jsonLine = (record: unknown): string => wellFormed(safeJson(stringifyJson(record)));

/** The JSON escape of a surrogate. */
const surrogateEscape = /\\u[dD][89a-fA-F]/;
const anyEscape =
  /\\(?:(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|u[dD][89a-fA-F][0-9a-fA-F]{2}|[\s\S])/g;

/** Replaces each lone surrogate with U+FFFD: jq, DuckDB and Python reject the escape of one. */
export const wellFormed = (json: string): string =>
  surrogateEscape.test(json)
    ? json.replace(anyEscape, (found: string, pair?: string) =>
        pair === undefined && found.length > 2 ? '\ufffd' : found,
      )
    : json;

/** The UTF-8 bytes, read as Latin-1, of line ends and of the characters that `safeJson` escapes. */
const unsafeBytes = /[\n\r\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]/;

/** The first bytes of these: this search is twenty times as fast, and most text does not contain them. */
const unsafeFirstBytes = /[\n\r\x7f\xc2\xd8]|\xe2[\x80\x81]/;

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** White space and escapes that `JSON.stringify` does not write. A match within a text only makes the check slower. */
const otherSpellings = ['": ', ', "', '\\u', '\\/'].map((spelling) => Buffer.from(spelling));

/**
 * Whether JSON can be printed unchanged: it is one line, is spelled as `jsonLine` would spell it, so that a post prints
 * the same bytes from a frame and from a page, and contains nothing that a terminal could interpret.
 */
export function isPlainLine(bytes: Uint8Array): boolean {
  const view = bufferOf(bytes);
  if (otherSpellings.some((spelling) => view.includes(spelling))) return false;
  if (isAscii(view)) return !view.includes(0x0a) && !view.includes(0x0d) && !view.includes(0x7f);
  const text = view.toString('latin1');
  return !unsafeFirstBytes.test(text) || !unsafeBytes.test(text);
}

/** JSON bytes as one safe line of text, as `jsonLine` would spell it. */
export function lineOf(bytes: Uint8Array): string {
  const text = bufferOf(bytes).toString('utf8');
  const value = parseJson(text);
  // JSON that is nested too deeply to be parsed keeps its spelling.
  return value === undefined ? wellFormed(safeJson(text.replace(/[\r\n]+/g, ' '))) : jsonLine(value);
}
