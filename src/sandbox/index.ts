import { createServer, type Server } from 'node:http';
import { Failure } from '../base/failure.ts';
import { serveCall } from './http/serve.ts';
import { publishPosts, replay } from './live-posts.ts';
import { isForSocket, serveUpgrade } from './socket/upgrade.ts';
import { addKey, createState, type SandboxOptions, type SandboxState } from './state.ts';
import { readRecording } from './world/load.ts';
import { TERM_MS } from './world/people.ts';

export { parseFaults } from './faults/grammar.ts';
export { planNames } from './keys.ts';
export type { SandboxOptions } from './state.ts';

/** A running sandbox. */
interface Sandbox {
  readonly url: string;
  readonly port: number;
  /** The first key. */
  readonly key: string;
  readonly state: SandboxState;
  readonly server: Server;
  close(): Promise<void>;
}

const serverOptions = {
  keepAliveTimeout: 60_000,
  noDelay: true,
  // Node 24.9 and later asks; older versions take every upgrade for one to serve.
  shouldUpgradeCallback: isForSocket,
};

export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const state = createState(options);
  const { text: key, ratePerMinute } = addKey(state, options);
  state.burstPerSecond = options.burstPerSecond ?? Math.max(state.burstPerSecond, ratePerMinute);
  const server = createServer(serverOptions, (request, response) => {
    serveCall(state, request, response).catch(() => response.destroy());
  });
  server.on('upgrade', (request, _, head) => {
    serveUpgrade(state, server, request, head).catch(() => request.socket.destroy());
  });
  const port = await listen(server, options.port ?? 0);
  followTerms(state);
  if (options.replay) replay(state, readRecording(options.replay.file), options.replay.speed);
  else publishPosts(state, options.rate ?? 0);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    key,
    state,
    server,
    async close() {
      // A clock that was passed as an option belongs to the caller.
      if (!options.clock) state.clock.stop();
      const closed = new Promise((resolve) => server.close(resolve));
      cutConnections(state, server);
      await closed;
    },
  };
}

/** The port, which is any free one for 0. */
async function listen(server: Server, wanted: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(listenFailure(wanted, cause)));
    server.listen(wanted, '127.0.0.1', () => resolve());
  });
  const address = server.address();
  return typeof address === 'object' && address ? address.port : wanted;
}

/** @internal Exported for tests. */
export function cutConnections({ sockets, resolves }: SandboxState, server: Server): void {
  for (const socket of [...sockets]) socket.disconnect('drop');
  resolves.clear();
  server.closeAllConnections();
}

const listenFailure = (port: number, cause: Error) =>
  new Failure('local', `the sandbox cannot listen on port ${port}: ${cause.message}`, {
    code: 'PORT',
    hint: 'use --port 0 to select a free port',
    cause,
  });

/** The people of the world change when a term of the sandbox's own clock begins. */
function followTerms(sandbox: SandboxState): void {
  const { clock, world } = sandbox;
  const start = clock.now();
  const arm = () => {
    const term = Math.floor((clock.now() - start) / TERM_MS);
    clock.at(start + (term + 1) * TERM_MS, () => {
      world.moveTo(clock.now());
      arm();
    });
  };
  arm();
}
