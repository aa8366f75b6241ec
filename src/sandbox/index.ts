import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { Failure } from '../base/failure.ts';
import type { Callout } from '../contract/records/launchpad.ts';
import type { ThesisFrameData } from '../contract/records/thesis.ts';
import type { SandboxClock } from './clock.ts';
import type { Faults } from './faults/engine.ts';
import type { KeyOptions } from './keys/key.ts';
import type { MeterReading } from './keys/key-meter.ts';
import type { SandboxOptions } from './options.ts';
import { createApi } from './server/http/api.ts';
import { isWebSocketUpgrade, serveWithoutUpgrade } from './server/http/unsupported-upgrade.ts';
import { createParts } from './server/parts.ts';
import type { LogEntry } from './server/request-log.ts';
import type { Disconnect } from './server/socket/connection.ts';
import { createSocketServer } from './server/socket/socket-server.ts';
import { type StateReport, stateReporter } from './server/state-report.ts';
import { readRecording } from './world/load.ts';
import type { World } from './world/types.ts';

export { parseFaults } from './faults/grammar.ts';
export { planNames } from './keys/plans.ts';
export type { SandboxOptions } from './options.ts';

/** A running sandbox, and what tests do to it. */
export interface Sandbox {
  readonly url: string;
  readonly port: number;
  /** The text of the first key. */
  readonly key: string;
  readonly world: World;
  readonly clock: SandboxClock;
  readonly faults: Faults;
  /** The latest requests with their charges, including rejected ones. */
  readonly log: readonly LogEntry[];
  state(): StateReport;
  /** The usage of a key; by default, of the first key. */
  meter(key?: string): MeterReading;
  addKey(options: KeyOptions): string;
  /** Adds units that never expire to the first key. */
  topUp(units: number): void;
  /** Publishes a post now: the given post, or the next post of the world. */
  post(given?: ThesisFrameData): ThesisFrameData;
  /** Publishes the next callout of the world now. */
  postCallout(): Callout | undefined;
  /** Sets the number of live posts per minute. */
  setRate(perMinute: number): void;
  /** Ends all open sockets, or makes them silent. */
  disconnect(how: Disconnect, code?: number): void;
  /** Moves simulated time forward. */
  advance(ms: number): Promise<void>;
  /** Jumps to a time. */
  setClock(time: number): void;
  /**
   * Simulates a restart: closes all connections, cancels live resolves, and clears the rate limit counts. The
   * service then stays unreachable for `downMs` milliseconds.
   */
  restart(downMs?: number): void;
  close(): Promise<void>;
}

/** Starts the embedded service on loopback. The service is ready when the promise resolves. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const parts = createParts(options);
  const { clock, faults, feed, admission, log, world, settings } = parts;
  const first = admission.add(options);
  const sockets = createSocketServer(parts);
  const api = createApi(parts);
  const connections = new Set<Socket>();
  let down = false;

  const restart = (downMs = 0) => {
    sockets.destroy();
    parts.resolves.cancelAll();
    admission.resetRates();
    for (const socket of connections) socket.destroy();
    if (downMs === 0) return;
    down = true;
    clock.at(clock.now() + downMs, () => {
      down = false;
    });
  };
  const state = stateReporter(parts, sockets, () => api.inFlight);

  const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
    api.serve(request, response).catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    if (down) return void socket.destroy();
    // Ignore a socket that is already in `connections`: `serveWithoutUpgrade` emits `connection` a second time
    // for it.
    if (connections.has(socket)) return;
    connections.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => connections.delete(socket));
  });
  server.on('upgrade', (request, _, head) => {
    if (!isWebSocketUpgrade(request)) return serveWithoutUpgrade(server, request, head);
    sockets.upgrade(request, request.socket, head).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(listenFailure(settings.port, cause)));
    server.listen(settings.port, '127.0.0.1', () => resolve());
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : settings.port;

  if (options.replay) feed.play(readRecording(options.replay.file), options.replay.speed ?? 1);
  else feed.setRate(options.rate ?? 0);

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    key: first.text,
    world,
    clock,
    faults,
    get log() {
      return log.entries;
    },
    state,
    meter(text = first.text) {
      const key = admission.byText(text);
      if (!key) throw new Error('unknown key');
      return key.meter.reading();
    },
    addKey: (more) => admission.add(more).text,
    topUp: first.meter.topUp,
    post: feed.post,
    postCallout: () => world.launchpad.postCallout(clock.now()),
    setRate: feed.setRate,
    disconnect: sockets.disconnect,
    advance: (ms) => clock.advance(ms),
    setClock: (time) => clock.set(time),
    restart,
    async close() {
      feed.setRate(0);
      sockets.destroy();
      // Do not stop a clock that was passed as an option, because the caller may still use it.
      if (!options.clock) clock.stop();
      parts.resolves.cancelAll();
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of connections) socket.destroy();
      await closed;
    },
  };
}

const listenFailure = (port: number, cause: Error) =>
  new Failure('local', `the sandbox cannot listen on port ${port}: ${cause.message}`, {
    code: 'PORT',
    hint: 'use --port 0 to select a free port',
    cause,
  });
