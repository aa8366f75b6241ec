import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import * as z from 'zod/mini';
import { plainJson } from '../../base/json-object.ts';
import { createRecentSet } from '../../base/recent-set.ts';
import { CLOSE_QUOTA, ClientFrame, type Subscription } from '../../contract/frames.ts';
import { cu, SOCKET_PING_SECONDS, SOCKET_TOKENS_MAX } from '../../contract/limits.ts';
import { type Disconnect, driftText, faultIn, type TriggeredFault } from '../faults/engine.ts';
import { chargeKey, type Key } from '../keys.ts';
import { nextId, type OpenSocket, type SandboxState } from '../state.ts';
import { normalAddress } from '../world/world.ts';

const PING_MS = SOCKET_PING_SECONDS * 1_000;
const MINUTE = 60_000;
export const socketMinute = { cu: cu.socketMinute, reveals: 0 };
/** How long `advance` of the clock waits for the pong of a ping, in real time. */
const PONG_GRACE_MS = 5_000;

export function openConnection(
  sandbox: SandboxState,
  key: Key,
  ws: WebSocket,
  raw: Socket,
  charged: (units: number) => void,
): void {
  const { clock, faults, sockets } = sandbox;
  const sent = createRecentSet(50_000);
  const cancels = new Set<() => void>();
  let subscription: Subscription | null = null;
  /** Called when the pong of a ping arrives; null if no ping waits for its pong. */
  let onPong: (() => void) | null = null;
  let delayed: string | null = null;
  let silent = false;

  const write = (text: string) => {
    if (!silent && ws.readyState === ws.OPEN) ws.send(text);
  };
  const later = (ms: number, task: () => unknown) => {
    const cancel = clock.at(clock.now() + ms, () => {
      cancels.delete(cancel);
      return task();
    });
    cancels.add(cancel);
  };
  const socket: OpenSocket = { offer, disconnect };
  sockets.add(socket);

  function bill() {
    later(MINUTE, bill);
    if (!chargeKey(key, socketMinute, clock.now())) return charged(socketMinute.cu);
    ws.close(CLOSE_QUOTA, 'Out of units.');
    end();
  }

  function end() {
    if (!sockets.delete(socket)) return;
    for (const cancel of cancels) cancel();
    onPong?.();
  }

  function disconnect(...[how, code = 1001]: Parameters<OpenSocket['disconnect']>) {
    if (how === 'close') ws.close(code);
    if (how === 'drop') ws.terminate();
    if (how !== 'halfopen') return end();
    // Simulate an unplugged cable: neither read nor send nor close anything.
    silent = true;
    raw.pause();
  }

  /** Sends a ping, or ends the connection if the previous ping was not answered. */
  function ping(): Promise<void> | undefined {
    if (onPong) {
      if (!silent) ws.terminate();
      end();
      return;
    }
    later(PING_MS, ping);
    const answer = new Promise<void>((resolve) => {
      const grace = setTimeout(resolve, silent ? 0 : PONG_GRACE_MS).unref();
      onPong = () => {
        clearTimeout(grace);
        onPong = null;
        resolve();
      };
    });
    if (!silent) ws.ping();
    return answer;
  }

  const matches = (token: string | null) =>
    subscription?.type === 'tokens'
      ? token !== null && subscription.tokens.includes(normalAddress(token))
      : subscription !== null;

  function offer(id: string, tokenAddress: string | null, text: string) {
    if (silent || !matches(tokenAddress) || !sent.add(id)) return;
    const triggered = faults.trigger('frame', 'ws');
    if (triggered.length === 0) return send(text);
    for (const { kind } of triggered) if (isDisconnect(kind)) return disconnect(kind);
    const wait = triggered.find(({ kind }) => kind === 'delay' || kind === 'reorder');
    if (wait?.kind === 'delay') return later(wait.ms, () => sendWithFaults(text, triggered));
    if (!wait || delayed !== null) return sendWithFaults(text, triggered);
    delayed = text;
    later(wait.ms, () => {
      if (delayed !== text) return;
      delayed = null;
      write(text);
    });
  }

  function sendWithFaults(text: string, triggered: readonly TriggeredFault[]) {
    const has = (kind: string) => faultIn(triggered, kind) !== undefined;
    if (has('withhold')) return;
    if (has('html')) return send('<html><body>502 Bad Gateway</body></html>');
    if (has('shape')) return send('{"type":"surprise","payload":[1,2,3]}');
    const drift = faultIn(triggered, 'drift');
    send(drift ? driftText(text, drift.random) : text);
    if (has('dup')) send(text);
  }

  /** Sends a frame, and then the frame that `reorder` has delayed. */
  function send(text: string) {
    write(text);
    if (delayed === null) return;
    write(delayed);
    delayed = null;
  }

  ws.on('pong', () => onPong?.());
  ws.on('close', end);
  ws.on('error', end);
  ws.on('message', (data: RawData, binary: boolean) => {
    const previous = subscription;
    const requested = readFrame(binary ? '' : data.toString());
    if (typeof requested === 'string')
      return write(JSON.stringify({ type: 'error', error: requested }));
    subscription = requested;
    if (previous && requested) write(JSON.stringify({ type: 'replaced', previous }));
    write(JSON.stringify({ type: 'subscription', subscription }));
  });
  write(JSON.stringify({ type: 'ready', connectionId: nextId(sandbox, 'ws') }));
  bill();
  later(PING_MS, ping);
  for (const { kind, ms } of faults.triggerTimed()) {
    if (isDisconnect(kind)) later(ms, () => disconnect(kind));
  }
}

/** The subscription that a frame of the client requests, null to unsubscribe, or the text of an error. */
function readFrame(text: string): Subscription | null | string {
  const json = plainJson(text);
  if (json === undefined) return 'A frame must be JSON text.';
  const frame = z.safeParse(ClientFrame, json);
  if (!frame.success)
    return 'A frame must be {type: "subscribe", subscription} or {type: "unsubscribe"}.';
  if (frame.data.type === 'unsubscribe') return null;
  const requested = frame.data.subscription;
  if (requested.type === 'all') return { type: 'all' };
  const { tokens } = requested;
  return tokens.length > SOCKET_TOKENS_MAX
    ? `${tokens.length} addresses were sent; a subscription can contain at most ${SOCKET_TOKENS_MAX}.`
    : { type: 'tokens', tokens: [...new Set(tokens.map(normalAddress))] };
}

const isDisconnect = (kind: string): kind is Disconnect =>
  kind === 'drop' || kind === 'close' || kind === 'halfopen';
