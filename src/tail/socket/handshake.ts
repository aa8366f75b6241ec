import type { IncomingMessage } from 'node:http';
import type { Failure } from '../../base/failure.ts';
import { plainJson } from '../../base/json-object.ts';
import { readServiceError } from '../../core/client/service-errors.ts';
import { broken, unreachable } from '../../core/http/network-failures.ts';

const MAX_RESPONSE = 64 * 1024;

export type Opening = import('ws').WebSocket;

/**
 * Resolves after the handshake. If the service rejects it, throws the same `Failure` as for a
 * rejected call.
 */
export async function opened(
  socket: Opening,
  host: string,
  opening: { readonly sent: boolean },
  now: () => number,
  signal: AbortSignal,
): Promise<void> {
  // If the request was sent, the service may have opened a connection although no response arrived.
  const failed = (error: unknown) =>
    opening.sent ? broken(host, error) : unreachable(host, error);
  let abort = () => {};
  try {
    await new Promise<void>((resolve, reject) => {
      abort = () => {
        reject(opening.sent ? failed(signal.reason) : signal.reason);
        socket.terminate();
      };
      signal.addEventListener('abort', abort, { once: true });
      socket.once('open', resolve);
      socket.on('error', (error) => reject(failed(error)));
      socket.once('unexpected-response', (_, answer) => {
        rejectionOf(answer, host, now)
          .then(reject, reject)
          .finally(() => socket.terminate());
      });
    });
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function rejectionOf(
  answer: IncomingMessage,
  host: string,
  now: () => number,
): Promise<Failure> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of answer) {
      parts.push(part);
      bytes += part.length;
      if (bytes > MAX_RESPONSE) break;
    }
  } catch (error) {
    return broken(host, error);
  }
  const text = Buffer.concat(parts).toString('utf8');
  const headers = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [name, String(value)]),
  );
  return readServiceError({ status: answer.statusCode ?? 0, headers, text }, plainJson(text), now())
    .failure;
}
