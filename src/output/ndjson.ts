import { isAscii } from 'node:buffer';
import { safeJson } from './safe.ts';

/** A record as one line of JSON, without the line's end. */
export const jsonLine = (record: unknown): string => safeJson(JSON.stringify(record) ?? 'null');

/** In Latin-1, the bytes of what `safeJson` escapes, and line ends. */
const liveBytes = /[\n\r\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]/;

/**
 * JSON that is passed on as it came. It is handed back untouched where it is one line that no terminal could obey
 * (`true`), which native code tells in a fraction of what parsing costs.
 */
export function isPlainLine(bytes: Uint8Array): boolean {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isAscii(view)) return !view.includes(0x0a) && !view.includes(0x0d) && !view.includes(0x7f);
  return !liveBytes.test(view.toString('latin1'));
}

/** JSON bytes as one safe line of text. */
export const lineOf = (bytes: Uint8Array): string =>
  safeJson(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      .toString('utf8')
      .replace(/[\r\n]+/g, ' '),
  );
