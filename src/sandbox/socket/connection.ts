import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import { createRecentSet } from '../../base/recent-set.ts';
import { CLOSE_QUOTA } from '../../contract/frames.ts';
import { SOCKET_PING_SECONDS } from '../../contract/limits.ts';
import { driftText } from '../faults/drift.ts';
import type { TriggeredFault } from '../faults/engine.ts';
import { isDisconnect } from '../faults/kinds.ts';
import type { Key } from '../keys/key.ts';
import { nextId, type OpenSocket, type SandboxState } from '../state.ts';
import { billSocket } from './billing.ts';
import { applyClientFrame, unsubscribed } from './subscription.ts';

const PING_MS = SOCKET_PING_SECONDS * 1_000;
/** How long `advance` of the clock waits for the pong of a ping, in real time. */
const PONG_GRACE_MS = 5_000;

/** Serves an accepted WebSocket until it ends. `charged` is called for each charge. */
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
  let subscription = unsubscribed;
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
  const stopBilling = billSocket(sandbox, key, charged, () => {
    ws.close(CLOSE_QUOTA, 'Out of units.');
    end();
  });
  const socket: OpenSocket = { offer, disconnect };
  sockets.add(socket);

  function end() {
    if (!sockets.delete(socket)) return;
    for (const cancel of cancels) cancel();
    stopBilling();
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

  function offer({ id, tokenAddress, text }: Parameters<OpenSocket['offer']>[0]) {
    if (silent || !subscription.matches(tokenAddress) || !sent.add(id)) return;
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
    const applied = applyClientFrame(subscription, binary ? null : data.toString());
    subscription = applied.state;
    for (const answer of applied.answers) write(JSON.stringify(answer));
  });
  write(JSON.stringify({ type: 'ready', connectionId: nextId(sandbox, 'ws') }));
  later(PING_MS, ping);
  for (const { fault, ms } of faults.triggerTimed()) {
    const { kind } = fault;
    if (isDisconnect(kind)) later(ms, () => disconnect(kind));
  }
}
