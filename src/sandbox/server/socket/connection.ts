import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import { createRecentSet } from '../../../base/recent-set.ts';
import { CLOSE_QUOTA } from '../../../contract/frames.ts';
import type { SandboxClock } from '../../clock.ts';
import { driftText } from '../../faults/drift.ts';
import type { Faults, TriggeredFault } from '../../faults/engine.ts';
import type { Key } from '../../keys/key.ts';
import type { FramedPost } from '../live-feed.ts';
import { billSocket, type SocketBilling } from './billing.ts';
import { applyClientFrame, unsubscribed } from './subscription.ts';

/** An open WebSocket connection. */
export interface SocketConnection {
  readonly id: string;
  readonly key: Key;
  /** Whether the last ping was answered. */
  readonly answered: boolean;
  offer(post: FramedPost): void;
  disconnect(how: Disconnect, code?: number): void;
}

/** How a connection is ended or made silent. */
export type Disconnect = 'drop' | 'close' | 'halfopen';

export interface ConnectionOptions {
  readonly id: string;
  readonly key: Key;
  readonly ws: WebSocket;
  readonly raw: Socket;
  readonly clock: SandboxClock;
  readonly faults: Faults;
  readonly billing: SocketBilling;
  readonly pingMs: number;
  readonly charged: (units: number) => void;
  readonly ended: () => void;
}

/** How long `advance` of the clock waits for the pong of a ping, in real time. */
const PONG_GRACE_MS = 5_000;

export function openConnection(options: ConnectionOptions): SocketConnection {
  const { ws, raw, clock, faults } = options;
  const sent = createRecentSet(50_000);
  const cancels = new Set<() => void>();
  let subscription = unsubscribed;
  /** Called when the pong of a ping arrives; null if no ping waits for its pong. */
  let onPong: (() => void) | null = null;
  /** The frame that a `reorder` fault delays. */
  let delayed: string | null = null;
  let silent = false;
  let ended = false;

  const sendJson = (frame: unknown) => write(JSON.stringify(frame));
  const write = (text: string) => {
    if (!silent && ws.readyState === ws.OPEN) ws.send(text);
  };
  const later = (ms: number, task: () => unknown) => {
    const cancel = clock.at(clock.now() + Math.round(ms), () => {
      cancels.delete(cancel);
      return task();
    });
    cancels.add(cancel);
  };
  const end = () => {
    if (ended) return;
    ended = true;
    for (const cancel of cancels) cancel();
    stopBilling();
    onPong?.();
    options.ended();
  };

  const stopBilling = billSocket(options.key, clock, options.billing, options.charged, () => {
    ws.close(CLOSE_QUOTA, 'Out of units.');
    end();
  });

  function disconnect(how: Disconnect, code = 1001) {
    if (how === 'close') ws.close(code);
    if (how === 'drop') ws.terminate();
    if (how !== 'halfopen') return end();
    // Simulate an unplugged cable: neither read nor send nor close anything.
    silent = true;
    raw.pause();
  }

  /** Sends a ping, or ends the connection if the previous ping was not answered. */
  function ping(): Promise<void> | undefined {
    if (ended) return;
    if (onPong) {
      if (!silent) ws.terminate();
      end();
      return;
    }
    later(options.pingMs, ping);
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

  function send(text: string) {
    write(text);
    if (delayed === null) return;
    const next = delayed;
    delayed = null;
    write(next);
  }

  function sendWithFaults(text: string, triggered: readonly TriggeredFault[]) {
    const has = (kind: string) => triggered.some(({ fault }) => fault.kind === kind);
    if (has('withhold')) return;
    if (has('html')) return send('<html><body>502 Bad Gateway</body></html>');
    if (has('shape')) return send('{"type":"surprise","payload":[1,2,3]}');
    const drift = triggered.find(({ fault }) => fault.kind === 'drift');
    send(drift ? driftText(text, drift.random) : text);
    if (has('dup')) send(text);
  }

  ws.on('pong', () => onPong?.());
  ws.on('close', end);
  ws.on('error', end);
  ws.on('message', (data: RawData, binary: boolean) => {
    const applied = applyClientFrame(subscription, binary ? null : data.toString());
    subscription = applied.state;
    for (const answer of applied.answers) sendJson(answer);
  });

  sendJson({ type: 'ready', connectionId: options.id });
  later(options.pingMs, ping);
  for (const { fault, ms } of faults.triggerTimed()) {
    if (isDisconnect(fault.kind)) {
      const how = fault.kind;
      later(ms, () => disconnect(how));
    }
  }

  return {
    id: options.id,
    key: options.key,
    get answered() {
      return onPong === null;
    },
    disconnect,
    offer({ id, tokenAddress, text }) {
      if (ended || silent || !subscription.matches(tokenAddress) || !sent.add(id)) return;
      const triggered = faults.trigger('frame', 'ws');
      if (triggered.length === 0) return send(text);
      for (const { fault } of triggered) if (isDisconnect(fault.kind)) return disconnect(fault.kind);
      const wait = triggered.find(({ fault }) => fault.kind === 'delay' || fault.kind === 'reorder');
      if (wait?.fault.kind === 'delay') return later(wait.ms, () => sendWithFaults(text, triggered));
      if (!wait || delayed !== null) return sendWithFaults(text, triggered);
      delayed = text;
      later(wait.ms, () => {
        if (delayed !== text) return;
        delayed = null;
        write(text);
      });
    },
  };
}

const isDisconnect = (kind: string): kind is Disconnect =>
  kind === 'drop' || kind === 'close' || kind === 'halfopen';
