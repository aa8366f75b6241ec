import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import { CLOSE_QUOTA } from '../../../contract/frames.ts';
import type { SandboxClock } from '../../clock.ts';
import type { Faults, Strike } from '../../faults/engine.ts';
import type { Key } from '../../keys/key.ts';
import type { Outgoing } from '../live-feed.ts';
import { billSocket, type SocketBilling } from './billing.ts';
import { recentIds } from './recent-ids.ts';
import { listeningToNothing, takeFrame } from './subscription.ts';

/** One open socket. */
export interface Session {
  readonly id: string;
  readonly key: Key;
  /** Whether the last ping was answered. */
  readonly answered: boolean;
  offer(post: Outgoing): void;
  strike(how: Ending, code?: number): void;
}

/** How a socket can end, or go dumb, by the sandbox's own doing. */
export type Ending = 'drop' | 'close' | 'halfopen';

export interface SessionParts {
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

/** How long the moving of a clock by hand waits for a client's pong. */
const PONG_GRACE_MS = 5_000;

export function openSession(parts: SessionParts): Session {
  const { ws, raw, clock, faults } = parts;
  const sent = recentIds(50_000);
  const calledOff = new Set<() => void>();
  let listening = listeningToNothing;
  let waiting: (() => void) | null = null;
  let held: string | null = null;
  let deaf = false;
  let over = false;

  const say = (frame: unknown) => write(JSON.stringify(frame));
  const write = (text: string) => {
    if (!deaf && ws.readyState === ws.OPEN) ws.send(text);
  };
  const later = (ms: number, task: () => unknown) => {
    const cancel = clock.at(clock.now() + Math.round(ms), () => {
      calledOff.delete(cancel);
      return task();
    });
    calledOff.add(cancel);
  };
  const end = () => {
    if (over) return;
    over = true;
    for (const cancel of calledOff) cancel();
    stopBilling();
    waiting?.();
    parts.ended();
  };

  const stopBilling = billSocket(parts.key, clock, parts.billing, parts.charged, () => {
    ws.close(CLOSE_QUOTA, 'Out of units.');
    end();
  });

  function strike(how: Ending, code = 1001) {
    if (how === 'close') ws.close(code);
    if (how === 'drop') ws.terminate();
    if (how !== 'halfopen') return end();
    // Nothing is read, nothing is sent, nothing is closed: as behind a cable that was pulled.
    deaf = true;
    raw.pause();
  }

  /** A dead peer is found out by the ping that it did not answer before the next one. */
  function ping(): Promise<void> | undefined {
    if (over) return;
    if (waiting) {
      if (!deaf) ws.terminate();
      end();
      return;
    }
    later(parts.pingMs, ping);
    const answer = new Promise<void>((resolve) => {
      const grace = setTimeout(resolve, deaf ? 0 : PONG_GRACE_MS).unref();
      waiting = () => {
        clearTimeout(grace);
        waiting = null;
        resolve();
      };
    });
    if (!deaf) ws.ping();
    return answer;
  }

  function send(text: string) {
    write(text);
    if (held === null) return;
    const next = held;
    held = null;
    write(next);
  }

  function sendStruck(text: string, strikes: readonly Strike[]) {
    const has = (kind: string) => strikes.some(({ what }) => what.kind === kind);
    if (has('withhold')) return;
    if (has('html')) return send('<html><body>502 Bad Gateway</body></html>');
    if (has('shape')) return send('{"type":"surprise","payload":[1,2,3]}');
    send(text);
    if (has('dup')) send(text);
  }

  ws.on('pong', () => waiting?.());
  ws.on('close', end);
  ws.on('error', end);
  ws.on('message', (data: RawData, binary: boolean) => {
    const taken = takeFrame(listening, binary ? null : data.toString());
    listening = taken.listening;
    for (const answer of taken.answers) say(answer);
  });

  say({ type: 'ready', connectionId: parts.id });
  later(parts.pingMs, ping);
  for (const { what, ms } of faults.drawTimes()) {
    if (isEnding(what.kind)) {
      const how = what.kind;
      later(ms, () => strike(how));
    }
  }

  return {
    id: parts.id,
    key: parts.key,
    get answered() {
      return waiting === null;
    },
    strike,
    offer({ id, tokenAddress, text }) {
      if (over || deaf || !listening.matches(tokenAddress) || !sent.add(id)) return;
      const strikes = faults.draw('frame', 'ws');
      if (strikes.length === 0) return send(text);
      for (const { what } of strikes) if (isEnding(what.kind)) return strike(what.kind);
      const wait = strikes.find(({ what }) => what.kind === 'delay' || what.kind === 'reorder');
      if (wait?.what.kind === 'delay') return later(wait.ms, () => sendStruck(text, strikes));
      if (!wait || held !== null) return sendStruck(text, strikes);
      held = text;
      later(wait.ms, () => {
        if (held === text) held = null;
        else return;
        write(text);
      });
    },
  };
}

const isEnding = (kind: string): kind is Ending => kind === 'drop' || kind === 'close' || kind === 'halfopen';
