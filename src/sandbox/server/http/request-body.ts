import type { IncomingMessage } from 'node:http';

const MAX_BYTES = 1024 * 1024;

/** The body of a request as text; null if it is too large. */
export async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    // Read to the end even if the body is too large: otherwise, a client that is still sending would not
    // receive the response.
    if (bytes <= MAX_BYTES) chunks.push(chunk);
  }
  return bytes > MAX_BYTES ? null : Buffer.concat(chunks).toString();
}
