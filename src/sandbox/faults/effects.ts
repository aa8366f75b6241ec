import type { ServerResponse } from 'node:http';
import type { ErrorCode } from '../../contract/errors.ts';
import type { SandboxClock } from '../clock.ts';
import { ApiError, gatewayPage, type HttpResponse } from '../http/response.ts';
import { driftText } from './drift.ts';
import type { TriggeredFault } from './engine.ts';

// What each fault does, to a call, to a frame and to a post.

const faultIn = (triggered: readonly TriggeredFault[], wanted: string) =>
  triggered.find(({ kind }) => kind === wanted);

const sleep = (clock: SandboxClock, ms: number) =>
  new Promise<void>((resolve) => clock.at(clock.now() + ms, resolve));

/**
 * What a call gets in place of an answer: a page, nothing at all, or undefined if it is processed.
 * Throws the error response that a fault simulates.
 */
export async function insteadOfAnswer(
  triggered: readonly TriggeredFault[],
  clock: SandboxClock,
  response: ServerResponse,
): Promise<HttpResponse | 'nothing' | undefined> {
  for (const { kind, ms, code, status } of triggered) {
    if (kind === 'delay') await sleep(clock, ms);
    if (kind === 'reset') response.socket?.resetAndDestroy();
    if (kind === 'reset' || kind === 'stall') return 'nothing';
    if (kind === 'gateway') return gatewayPage(status);
    if (code) throw simulatedError(code, ms);
  }
  return undefined;
}

/** A handshake is refused before the upgrade, so only errors and pages apply to it. */
export function insteadOfUpgrade(triggered: readonly TriggeredFault[]): HttpResponse | undefined {
  for (const { kind, ms, code, status } of triggered) {
    if (kind === 'gateway') return gatewayPage(status);
    if (code) throw simulatedError(code, ms);
  }
  return undefined;
}

const simulatedError = (code: ErrorCode, ms: number): ApiError =>
  new ApiError(
    code,
    undefined,
    code === 'RATE_LIMITED' ? Math.max(1, Math.ceil(ms / 1_000)) : undefined,
  );

/** Sends the response of a call that was processed and charged, damaged by its faults. */
export function respond(
  to: ServerResponse,
  response: HttpResponse,
  triggered: readonly TriggeredFault[],
): void {
  if (to.destroyed) return;
  if (faultIn(triggered, 'lost')) {
    to.socket?.resetAndDestroy();
    return;
  }
  const { status, text, headers } = damaged(response, triggered);
  const body = Buffer.from(text);
  to.writeHead(status, { ...response.headers, ...headers, 'content-length': body.length });
  if (faultIn(triggered, 'cut'))
    to.write(body.subarray(0, body.length >> 1), () => to.socket?.destroy());
  else to.end(body);
}

function damaged(response: HttpResponse, triggered: readonly TriggeredFault[]): HttpResponse {
  if (faultIn(triggered, 'html')) return { ...gatewayPage(), status: 200 };
  if (faultIn(triggered, 'shape'))
    return { ...response, text: '{"surprise":[1,2,3],"count":"many"}' };
  const drift = faultIn(triggered, 'drift');
  if (!drift || response.status >= 300) return response;
  return { ...response, text: driftText(response.text, drift.random) };
}

/** How a connection ends: without a word, with a close frame, or not at all for the client. */
export type Disconnect = 'drop' | 'close' | 'halfopen';

export const isDisconnect = (kind: string): kind is Disconnect =>
  kind === 'drop' || kind === 'close' || kind === 'halfopen';

/** When a frame is sent, if its faults do not end the connection. */
export type FrameFate =
  | { readonly kind: 'now' }
  | { readonly kind: 'end'; readonly how: Disconnect }
  /** `delay` waits for the time; `reorder` for the next frame, or for the time. */
  | { readonly kind: 'delay' | 'reorder'; readonly ms: number };

export function fateOfFrame(triggered: readonly TriggeredFault[]): FrameFate {
  for (const { kind } of triggered) if (isDisconnect(kind)) return { kind: 'end', how: kind };
  for (const { kind, ms } of triggered)
    if (kind === 'delay' || kind === 'reorder') return { kind, ms };
  return { kind: 'now' };
}

/** The frames that are sent for one: none, another one, or two. */
export function framesFor(text: string, triggered: readonly TriggeredFault[]): readonly string[] {
  if (faultIn(triggered, 'withhold')) return [];
  if (faultIn(triggered, 'html')) return ['<html><body>502 Bad Gateway</body></html>'];
  if (faultIn(triggered, 'shape')) return ['{"type":"surprise","payload":[1,2,3]}'];
  const drift = faultIn(triggered, 'drift');
  const sent = drift ? driftText(text, drift.random) : text;
  return faultIn(triggered, 'dup') ? [sent, text] : [sent];
}

/** Times after the post, in milliseconds; undefined if a fault of this kind was not triggered. */
export interface PostFate {
  readonly announceMs: number;
  /** Pages lack the post for so long. */
  readonly hiddenMs: number | undefined;
  readonly sellMs: number | undefined;
  readonly vanishMs: number | undefined;
}

export function fateOfPost(triggered: readonly TriggeredFault[]): PostFate {
  const late = faultIn(triggered, 'late')?.ms;
  const lag = faultIn(triggered, 'lag')?.ms;
  return {
    announceMs: late ?? 0,
    hiddenMs: late === undefined ? lag : Math.max(late, lag ?? 0),
    sellMs: faultIn(triggered, 'sell')?.ms,
    vanishMs: faultIn(triggered, 'vanish')?.ms,
  };
}
