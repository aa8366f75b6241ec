import { isAscii } from 'node:buffer';
import { stringifyJson } from '../../base/json.ts';
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

/** Whether JSON can be passed on as it came: it is one line, and nothing in it could be obeyed by a terminal. */
export function isPlainLine(bytes: Uint8Array): boolean {
  const view = bufferOf(bytes);
  // A surrogate that is escaped may be a lone one.
  if (view.includes('\\u') && surrogateEscape.test(view.toString('latin1'))) return false;
  if (isAscii(view)) return !view.includes(0x0a) && !view.includes(0x0d) && !view.includes(0x7f);
  const text = view.toString('latin1');
  return !suspect.test(text) || !liveBytes.test(text);
}

/** JSON bytes as one safe line of text. */
export const lineOf = (bytes: Uint8Array): string =>
  wellFormed(
    safeJson(
      bufferOf(bytes)
        .toString('utf8')
        .replace(/[\r\n]+/g, ' '),
    ),
  );
