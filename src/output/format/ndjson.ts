import { isAscii } from 'node:buffer';
import { parseJson, stringifyJson } from '../../base/json.ts';
import { safeJson } from '../terminal/safe-text.ts';

/** A record as a line, without its line break. */
export const jsonLine = (record: unknown): string => wellFormed(safeJson(stringifyJson(record)));

const surrogateEscape = /\\u[dD][89a-fA-F]/;
const anyEscape =
  /\\(?:(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|u[dD][89a-fA-F][0-9a-fA-F]{2}|[\s\S])/g;

/** jq, DuckDB and Python reject the JSON escape of an unpaired surrogate. */
const wellFormed = (json: string): string =>
  surrogateEscape.test(json)
    ? json.replace(anyEscape, (character: string, pair?: string) =>
        pair === undefined && character.length > 2 ? '\ufffd' : character,
      )
    : json;

/** Line breaks and what `safeJson` escapes, as UTF-8 bytes that were decoded as Latin-1. */
const unsafeBytes =
  /[\n\r\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]/;

/**
 * The first bytes of what `unsafeBytes` matches. Searching for them is twenty times faster, and
 * most texts have none.
 */
const unsafeFirstBytes = /[\n\r\x7f\xc2\xd8]|\xe2[\x80\x81]/;

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const [QUOTE, COLON, SPACE, BACKSLASH] = [0x22, 0x3a, 0x20, 0x5c];
const UNICODE_ESCAPE = Buffer.from('\\u');
const SLASH_ESCAPE = Buffer.from('\\/');

/**
 * A serializer that writes white space does so at the first member, too. A false alarm is harmless.
 */
function hasOtherSpelling(json: Buffer): boolean {
  const nameEnd = json.indexOf(QUOTE, 2);
  return (
    json[1] !== QUOTE ||
    json[nameEnd + 1] !== COLON ||
    json[nameEnd + 2] === SPACE ||
    (json.includes(BACKSLASH) && (json.includes(UNICODE_ESCAPE) || json.includes(SLASH_ESCAPE)))
  );
}

/**
 * One line, safe for a terminal and as `jsonLine` writes it, so that pages and frames give the same
 * bytes.
 */
export function isPlainLine(bytes: Uint8Array): boolean {
  const view = bufferOf(bytes);
  if (hasOtherSpelling(view)) return false;
  if (isAscii(view)) return !view.includes(0x0a) && !view.includes(0x0d) && !view.includes(0x7f);
  const text = view.toString('latin1');
  return !unsafeFirstBytes.test(text) || !unsafeBytes.test(text);
}

export function lineOf(bytes: Uint8Array): string {
  const text = bufferOf(bytes).toString('utf8');
  const value = parseJson(text);
  // Nested too deeply for the parser: only escape the unsafe characters.
  return value === undefined
    ? wellFormed(safeJson(text.replace(/[\r\n]+/g, ' ')))
    : jsonLine(value);
}
