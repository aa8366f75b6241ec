import type { Dispatcher } from 'undici';
import { LONGEST_RESPONSE } from '../../contract/limits.ts';
import type { HttpAnswer, HttpRequest } from '../../contract/ports.ts';
import { withoutKey } from '../client/mask-key.ts';
import { isCompleteObject, textOfBody } from './body.ts';
import { broken, incomplete, noAnswer, redirected, tooLarge, unreachable } from './network-failures.ts';

/** A request whose URL is split without changing a byte, because the class `URL` would normalize the path. */
export interface Addressed extends HttpRequest {
  readonly origin: string;
  readonly path: string;
  readonly host: string;
}

export function exchange(
  dispatcher: Pick<Dispatcher, 'dispatch'>,
  request: Addressed,
  maxBytes: number,
  signal: AbortSignal | undefined,
): Promise<HttpAnswer> {
  const { origin, path, host, method, headers, body, timeoutMs, ending } = request;
  return new Promise((resolve, reject) => {
    let sent = false;
    let done = false;
    let status = 0;
    let answered: Record<string, string> = {};
    let size = 0;
    const chunks: Buffer[] = [];
    let stop: ((reason: Error) => void) | undefined;

    const finish = (settle: () => void) => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      clearTimeout(total);
      signal?.removeEventListener('abort', onAbort);
      ending?.removeEventListener('abort', onEnding);
      settle();
    };
    const fail = (error: unknown) => {
      finish(() => reject(error));
      stop?.(ABANDONED);
    };
    const onAbort = () => fail(signal?.reason);
    const onTime = () => {
      if (status > 0) end(incomplete(host, timeoutMs));
      else end(sent ? noAnswer(host, timeoutMs) : unreachable(host, TOO_SLOW));
    };
    let total: NodeJS.Timeout | undefined;
    const limitTo = (ms: number) => {
      clearTimeout(total);
      total = setTimeout(onTime, ms);
    };
    const onEnding = () => limitTo(timeoutMs);

    const textSoFar = () => textOfBody(Buffer.concat(chunks), answered['content-encoding'], maxBytes);
    const succeed = (text: string) => finish(() => resolve({ status, headers: answered, text }));
    /**
     * Ends the request after a connection failure or a timeout. If the whole record has arrived and only the
     * end of the response is missing, succeeds with the record, because the request may have been charged.
     */
    const end = (failure: Error) => {
      if (done) return;
      const text = status < 200 ? undefined : textSoFar();
      if (text === undefined || !isCompleteObject(text)) return fail(failure);
      succeed(text);
      stop?.(ABANDONED);
    };

    const timer = setTimeout(onTime, timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        stop = (reason) => controller.abort(reason);
        // The request was aborted or timed out while it was queued, so nothing was sent.
        if (done) return stop(ABANDONED);
        sent = true;
        request.onSent?.();
        // Restart the timeout now, because the time in the queue must not count.
        timer.refresh();
        if (ending?.aborted) return onEnding();
        limitTo(LONGEST_RESPONSE * timeoutMs);
        ending?.addEventListener('abort', onEnding, { once: true });
      },
      onResponseStart(_controller, statusCode, received) {
        timer.refresh();
        status = statusCode;
        answered = flat(received);
        const { location } = answered;
        if (status >= 300 && status < 400 && location) {
          // Mask the key, because the location of a redirect may repeat the path and query of the request.
          const key = headers['authorization']?.replace(/^Bearer /, '');
          fail(redirected(host, status, withoutKey(location, key)));
        }
      },
      onResponseData(_controller, chunk) {
        if (!done) timer.refresh();
        size += chunk.length;
        if (size > maxBytes) return fail(tooLarge(host, maxBytes));
        if (!done) chunks.push(chunk);
      },
      onResponseEnd() {
        const text = textSoFar();
        if (text === undefined) fail(tooLarge(host, maxBytes));
        else succeed(text);
      },
      onResponseError(_controller, error) {
        end(sent ? broken(host, error) : unreachable(host, error));
      },
    };
    try {
      dispatcher.dispatch({ origin, path, method, headers, body: body ?? null }, handler);
    } catch (error) {
      fail(unreachable(host, error));
    }
  });
}

const ABANDONED = new Error('abandoned');
const TOO_SLOW = Object.assign(new Error('the connection timed out'), { code: 'ETIMEDOUT' });

function flat(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) out[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return out;
}
