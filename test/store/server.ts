import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { readStoreUrl } from '../../src/store/address.ts';
import { type ConnectOptions, connectStore } from '../../src/store/connection.ts';
import { cert, key } from '../core/http/certificate.ts';
import { serverProgram } from '../tools.ts';

/** A real server on a free loopback port, with its append-only file in a temporary folder. */
export type StoreServer = Awaited<ReturnType<typeof createStoreServer>>;

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface ServerOptions {
  readonly conf?: readonly string[];
  /** Whether to use TLS, with the certificate `server.crt` in its folder. */
  readonly tls?: boolean;
  /** Whether to start the server without persistence, for use as a Sentinel. */
  readonly plain?: boolean;
}

/** Starts a server, and removes it after the tests of the file. */
export async function startServer(options: ServerOptions = {}): Promise<StoreServer> {
  const server = await createStoreServer(options);
  afterAll(server.remove);
  return server;
}

/** Like `startServer`, for use outside of a test file: the caller removes it. */
export async function createStoreServer({
  conf = [],
  tls = false,
  plain = false,
}: ServerOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'trdr-store-'));
  const port = await freePort();
  const [certificate, keyFile] = [join(folder, 'server.crt'), join(folder, 'server.key')];
  writeFileSync(certificate, cert);
  writeFileSync(keyFile, key);
  let child: ChildProcess | undefined;
  const url = `${tls ? 'rediss' : 'redis'}://127.0.0.1:${port}/0`;

  const end = async (signal: NodeJS.Signals) => {
    const ending = child;
    if (ending === undefined) return;
    child = undefined;
    const gone = once(ending, 'exit');
    ending.kill('SIGCONT');
    ending.kill(signal);
    await gone;
    running.delete(ending);
  };

  /**
   * Starts the server. If a kill during a rewrite has left a torn file before the last file, the first start only
   * removes the torn part, and the server must be started again.
   */
  const start = () =>
    startOnce().catch((error: Error) => {
      if (!error.message.includes('the truncated file is not the last file')) throw error;
      return startOnce();
    });

  const startOnce = async () => {
    const files = [
      ...['--tls-cert-file', certificate, '--tls-ca-cert-file', certificate],
      ...['--tls-key-file', keyFile],
    ];
    const ports = tls
      ? ['--port', '0', '--tls-port', `${port}`, ...files, '--tls-auth-clients', 'no']
      : ['--port', `${port}`];
    const own = ['--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'yes'];
    const file = join(folder, 'server.conf');
    if (plain) writeFileSync(file, `port ${port}\nbind 127.0.0.1\ndir ${folder}\n`);
    const args = plain ? [file, ...conf] : [...ports, ...own, '--appendfsync', 'everysec', ...conf];
    const started = spawn(...diesWithParent(serverProgram, args), {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(started);
    child = started;
    let said = '';
    await new Promise<void>((resolve, reject) => {
      const listen = (chunk: Buffer) => {
        said += chunk.toString();
        if (/Ready to accept connections|Sentinel ID is/.test(said)) resolve();
      };
      started.stdout?.on('data', listen);
      started.stderr?.on('data', listen);
      started.once('exit', () => reject(new Error(`the server ended: ${said.slice(-600)}`)));
    });
  };

  const server = {
    port,
    url,
    folder,
    get pid() {
      return child?.pid ?? 0;
    },
    start,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    pause: () => child?.kill('SIGSTOP'),
    resume: () => child?.kill('SIGCONT'),
    /** Opens a connection as trdr does, but with more time, because the machine may be busy. */
    connect: (given?: ConnectOptions) =>
      connectStore(readStoreUrl(url), { connectMs: 30_000, ...given }),
    /** The incremental append-only file, which a power failure truncates. */
    aof() {
      // While the server rewrites the file, there are two, and it writes to the newer one.
      const number = (file: string) => Number(/\.(\d+)\.incr\.aof$/.exec(file)?.[1] ?? 0);
      const names = readdirSync(join(folder, 'appendonlydir')).sort(
        (one, other) => number(one) - number(other),
      );
      return join(folder, 'appendonlydir', names.at(-1) ?? '');
    },
    async remove() {
      await end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await start();
  return server;
}

/** A command line for a program that the system kills when this process dies, even by SIGKILL. Only Linux can. */
const diesWithParent = (program: string, args: readonly string[]): [string, string[]] =>
  process.platform === 'linux'
    ? ['setpriv', ['--pdeathsig', 'KILL', program, ...args]]
    : [program, [...args]];

/**
 * A free port below those that the system gives to connections, which could take it while the server is
 * restarted.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 12_000 + Math.floor(Math.random() * 20_000);
    const probe = createServer();
    const free = await once(probe.listen(port, '127.0.0.1'), 'listening').then(
      () => true,
      () => false,
    );
    if (!free) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}
