import type { IncomingMessage } from 'node:http';

const MOST_BYTES = 1024 * 1024;

/** A request's body as text; null where it is too large to be taken. */
export async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    // Read to the end all the same, so that the answer reaches a client that is still sending.
    if (bytes <= MOST_BYTES) chunks.push(chunk);
  }
  return bytes > MOST_BYTES ? null : Buffer.concat(chunks).toString();
}
