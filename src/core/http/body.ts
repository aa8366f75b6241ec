import { plainJson } from '../../base/json-object.ts';
/** Undefined if the text is larger than `maxBytes`. A proxy may compress a response although trdr does not request it. */
export function textOfBody(bytes: Buffer, coding: string | undefined, maxBytes: number): string | undefined {
  const plain = coding === undefined ? bytes : decoded(bytes, coding, maxBytes);
  return plain?.toString('utf8').replace(/^\uFEFF/, '');
}

function decoded(bytes: Buffer, coding: string, maxBytes: number): Buffer | undefined {
  const names = coding.toLowerCase().split(/[\s,]+/);
  try {
    return names.reduceRight((body, name) => decodedOnce(body, name, maxBytes), bytes);
  } catch (error) {
    return error instanceof RangeError ? undefined : bytes;
  }
}

function decodedOnce(bytes: Buffer, name: string, maxOutputLength: number): Buffer {
  const zlib = process.getBuiltinModule('node:zlib');
  switch (name) {
    case 'gzip':
    case 'x-gzip':
      return zlib.gunzipSync(bytes, { maxOutputLength });
    case 'br':
      return zlib.brotliDecompressSync(bytes, { maxOutputLength });
    case 'deflate':
      // Some servers send a bare deflate stream, without the zlib header that the coding requires.
      return (bytes[0] ?? 0) % 16 === 8
        ? zlib.inflateSync(bytes, { maxOutputLength })
        : zlib.inflateRawSync(bytes, { maxOutputLength });
    default:
      return bytes;
  }
}

/** An object without its closing brace is not valid JSON, so a text that was cut short is never complete. */
export const isCompleteObject = (text: string): boolean =>
  /^\s*\{/.test(text) && plainJson(text) !== undefined;
