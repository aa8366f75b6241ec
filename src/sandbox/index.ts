import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { Failure } from '../base/failure.ts';
import type { ThesisFrameData } from '../contract/records/thesis.ts';
import { serveCall } from './http/serve.ts';
import { type KeyOptions, topUp, usageOf } from './keys.ts';
import { publishPost, replay, setRate } from './live-feed.ts';
import { isWebSocketUpgrade, serveUpgrade, serveWithoutUpgrade } from './socket/upgrade.ts';
import { addKey, createState, type OpenSocket, type SandboxOptions } from './state.ts';
import { readRecording } from './world/load.ts';

export { parseFaults } from './faults/grammar.ts';
export { planNames } from './keys.ts';
export type { SandboxOptions } from './state.ts';

/** A running sandbox: its state, and what tests do to it. @internal Exported for tests. */
export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/** Starts the embedded service on loopback. The service is ready when the promise resolves. */
export async function startSandbox(options: SandboxOptions = {}) {
  const sandbox = createState(options);
  const { clock, world, keys, sockets, resolves, rateWindows } = sandbox;
  const first = addKey(sandbox, options);
  const connections = new Set<Socket>();
  let down = false;

  const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
    serveCall(sandbox, request, response).catch(() => response.destroy());
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
    serveUpgrade(sandbox, request, request.socket, head).catch(() => request.socket.destroy());
  });
  const { port: wanted = 0 } = options;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(listenFailure(wanted, cause)));
    server.listen(wanted, '127.0.0.1', () => resolve());
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : wanted;

  if (options.replay) replay(sandbox, readRecording(options.replay.file), options.replay.speed);
  else setRate(sandbox, options.rate ?? 0);

  function closeConnections() {
    for (const socket of [...sockets]) socket.disconnect('drop');
    resolves.clear();
    for (const socket of connections) socket.destroy();
  }

  return Object.assign(sandbox, {
    url: `http://127.0.0.1:${port}`,
    port,
    key: first.text,
    /** The usage of a key; by default, of the first key. */
    meter(text = first.text) {
      const key = keys.get(text);
      if (!key) throw new Error('unknown key');
      const { totalUnits, totalReveals } = key;
      return { ...usageOf(key, clock.now()), totalUnits, totalReveals };
    },
    addKey: (more: KeyOptions) => addKey(sandbox, more).text,
    topUp: (units: number) => topUp(first, units),
    /** Publishes a post now: the given post, or the next post of the world. */
    post: (given?: ThesisFrameData) => publishPost(sandbox, given),
    postCallout: () => world.addCallout(clock.now()),
    setRate: (perMinute: number) => setRate(sandbox, perMinute),
    /** Ends all open sockets, or makes them silent. */
    disconnect(...how: Parameters<OpenSocket['disconnect']>) {
      for (const socket of [...sockets]) socket.disconnect(...how);
    },
    advance: (ms: number) => clock.advance(ms),
    setClock: (time: number) => clock.set(time),
    /**
     * Simulates a restart: closes all connections, cancels live resolves, and clears the rate limit counts. The
     * service then stays unreachable for `downMs` milliseconds.
     */
    restart(downMs = 0): void {
      closeConnections();
      rateWindows.clear();
      down = downMs > 0;
      if (down)
        clock.at(clock.now() + downMs, () => {
          down = false;
        });
    },
    async close(): Promise<void> {
      sandbox.cancelPosts();
      // Do not stop a clock that was passed as an option, because the caller may still use it.
      if (!options.clock) clock.stop();
      const closed = new Promise((resolve) => server.close(resolve));
      closeConnections();
      await closed;
    },
  });
}

const listenFailure = (port: number, cause: Error) =>
  new Failure('local', `the sandbox cannot listen on port ${port}: ${cause.message}`, {
    code: 'PORT',
    hint: 'use --port 0 to select a free port',
    cause,
  });
