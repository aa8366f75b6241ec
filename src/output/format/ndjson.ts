import { isAscii } from 'node:buffer';
import { parseJson, stringifyJson } from '../../base/json.ts';
import { safeJson } from '../terminal/safe-text.ts';

/** A record as one line of JSON, without the line's end. */
export const jsonLine = (record: unknown): string => wellFormed(safeJson(stringifyJson(record)));

/** Half of a surrogate pair, or the whole of one, as JSON may escape it. */
const surrogateEscape = /\\u[dD][89a-fA-F]/;
const anyEscape =
  /\\(?:(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|u[dD][89a-fA-F][0-9a-fA-F]{2}|[\s\S])/g;

/** JSON with U+FFFD for every lone surrogate: jq, DuckDB and Python refuse the escape of one. */
export const wellFormed = (json: string): string =>
  surrogateEscape.test(json)
    ? json.replace(anyEscape, (found: string, pair?: string) =>
        pair === undefined && found.length > 2 ? '\ufffd' : found,
      )
    : json;

/** In Latin-1, the bytes of what `safeJson` escapes, and line ends. */
const liveBytes = /[\n\r\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]/;

/** The bytes that all of those begin with: a search that is twenty times as fast, and enough for most text. */
const suspect = /[\n\r\x7f\xc2\xd8]|\xe2[\x80\x81]/;

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Blanks between members, and escapes that `JSON.stringify` does not write. In a text they cost a second look only. */
const spellings = ['": ', ', "', '\\u', '\\/'].map((spelling) => Buffer.from(spelling));

/**
 * Whether JSON can be passed on as it came: it is one line in the spelling of `jsonLine`, so that a post prints the same
 * bytes whether it came in a frame or in a page, and nothing in it could be obeyed by a terminal.
 */
export function isPlainLine(bytes: Uint8Array): boolean {
  const view = bufferOf(bytes);
  if (spellings.some((spelling) => view.includes(spelling))) return false;
  if (isAscii(view)) return !view.includes(0x0a) && !view.includes(0x0d) && !view.includes(0x7f);
  const text = view.toString('latin1');
  return !suspect.test(text) || !liveBytes.test(text);
}

/** JSON bytes as one safe line of text, in the spelling of `jsonLine`. */
export function lineOf(bytes: Uint8Array): string {
  const text = bufferOf(bytes).toString('utf8');
  const value = parseJson(text);
  // What is nested too deeply to be read is passed on in its own spelling.
  return value === undefined ? wellFormed(safeJson(text.replace(/[\r\n]+/g, ' '))) : jsonLine(value);
}
