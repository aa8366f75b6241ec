import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocketServer } from 'ws';
import { SOCKET_PATH } from '../../../contract/endpoints.ts';
import { type ErrorCode, errorCodes } from '../../../contract/errors.ts';
import type { Key } from '../../keys/key.ts';
import { jsonAnswer, splitOnce } from '../http/api.ts';
import { bodyOfRefusal, type Refusal, refusal } from '../http/api-error.ts';
import { type Answer, gatewayPage } from '../http/response.ts';
import type { Kernel } from '../parts.ts';
import type { LogEntry } from '../request-log.ts';
import { openingPrice } from './billing.ts';
import { type Ending, openSession, type Session } from './connection.ts';

/** The live feed's door, and the sockets behind it. */
export interface Gate {
  upgrade(request: IncomingMessage, raw: Socket, head: Buffer): Promise<void>;
  readonly sessions: readonly Session[];
  /** Does something to every open socket. */
  strike(how: Ending, code?: number): void;
  /** Breaks every connection, those gone silent as well. */
  destroy(): void;
}

export function createGate(kernel: Kernel): Gate {
  const { settings, clock, faults, feed, admission, log, nextId } = kernel;
  const sessions = new Set<Session>();
  const connections = new Set<Socket>();
  let loading: Promise<WebSocketServer> | undefined;
  const server = () => {
    // Loaded by the first who asks for the feed: a sandbox without sockets starts without it.
    loading ??= import('ws').then(({ WebSocketServer }) => {
      const wss = new WebSocketServer({ noServer: true, maxPayload: 1024 * 1024, clientTracking: false });
      // In the words of the service, where ws would answer in its own.
      wss.on('wsClientError', ({ message }, raw: Socket) => {
        deny(raw, refuseWith(refusal('BAD_REQUEST', `${message}.`)), nextId('req'));
      });
      return wss;
    });
    return loading;
  };
  feed.listen((post) => {
    for (const session of sessions) session.offer(post);
  });

  const refuse = (code: ErrorCode, retryAfter?: number): TurnedAway =>
    refuseWith(refusal(code, undefined, retryAfter));
  const refuseWith = (why: Refusal): TurnedAway => ({
    code: why.code,
    answer: jsonAnswer(errorCodes[why.code].status, bodyOfRefusal(why, settings.retryAfter)),
  });

  function admit(request: IncomingMessage, ip: string): { key: Key } | TurnedAway {
    if (splitOnce(request.url ?? '', '?')[0] !== SOCKET_PATH) return refuse('NOT_FOUND');
    const admitted = admission.admit(request.headers, ip, 'feed:live');
    if ('refusal' in admitted) return refuseWith(admitted.refusal);
    for (const { what, ms } of faults.draw('call', 'ws')) {
      if (what.kind !== 'answer') continue;
      if ('gateway' in what.answer) return { code: null, answer: gatewayPage(what.answer.gateway) };
      const { code } = what.answer;
      return refuse(code, code === 'RATE_LIMITED' ? Math.max(1, Math.ceil(ms / 1000)) : undefined);
    }
    const shortage = admitted.key.meter.shortage(openingPrice(settings.socketBilling));
    return shortage ? refuse(shortage) : admitted;
  }

  /** A line of the log. */
  const enter = (line: Pick<LogEntry, 'requestId' | 'key' | 'ip' | 'status' | 'code' | 'cu'>) =>
    log.add({
      ...line,
      time: clock.now(),
      method: 'GET',
      path: SOCKET_PATH,
      endpoint: 'ws',
      reveals: 0,
      ms: 0,
    });

  function deny(raw: Socket, { answer, code }: TurnedAway, requestId: string): void {
    const { status } = answer;
    enter({ requestId, key: null, ip: raw.remoteAddress ?? '', status, code, cu: 0 });
    turnAway(raw, answer, requestId);
  }

  return {
    async upgrade(request, raw, head) {
      const ip = raw.remoteAddress ?? '';
      const requestId = nextId('req');
      raw.on('error', () => raw.destroy());
      const wss = await server();
      const admitted = admit(request, ip);
      if ('answer' in admitted) return deny(raw, admitted, requestId);
      const record = (cu: number) =>
        enter({ requestId, ip, key: admitted.key.id, status: 101, code: null, cu });
      wss.handleUpgrade(request, raw, head, (ws) => {
        connections.add(raw);
        raw.once('close', () => connections.delete(raw));
        record(0);
        const session = openSession({
          id: nextId('ws'),
          key: admitted.key,
          ws,
          raw,
          clock,
          faults,
          billing: settings.socketBilling,
          pingMs: settings.pingMs,
          charged: record,
          ended: () => sessions.delete(session),
        });
        sessions.add(session);
      });
    },
    get sessions() {
      return [...sessions];
    },
    strike(how, code) {
      for (const session of [...sessions]) session.strike(how, code);
    },
    destroy() {
      for (const session of [...sessions]) session.strike('drop');
      for (const raw of connections) raw.destroy();
    },
  };
}

/** What a handshake gets instead of an upgrade. */
interface TurnedAway {
  readonly code: ErrorCode | null;
  readonly answer: Answer;
}

/** Refuses a handshake in plain HTTP, before any upgrade. */
function turnAway(raw: Socket, { status, text, headers }: Answer, requestId: string): void {
  const lines = Object.entries({
    ...headers,
    'content-length': Buffer.byteLength(text),
    'x-request-id': requestId,
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  raw.end([`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', text].join('\r\n'));
}
