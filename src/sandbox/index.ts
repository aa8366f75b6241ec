import { createServer, type Server } from 'node:http';
import { Failure } from '../base/failure.ts';
import type { Callout } from '../contract/records/launchpad.ts';
import type { Thesis, ThesisFrameData } from '../contract/records/thesis.ts';
import { type Disconnect, fateOfPost } from './faults/effects.ts';
import { serveCall } from './http/serve.ts';
import { type KeyOptions, type KeyUsage, topUp, usageOf } from './keys.ts';
import { exponential, type Random, randomOf } from './random.ts';
import { isForSocket, serveUpgrade } from './socket/upgrade.ts';
import { addKey, createState, type SandboxOptions, type SandboxState } from './state.ts';
import { readRecording } from './world/load.ts';
import { TERM_MS } from './world/people.ts';

export { parseFaults } from './faults/grammar.ts';
export { planNames } from './keys.ts';
export type { SandboxOptions } from './state.ts';

/** A running sandbox: its state, and what tests do to it. @internal Exported for tests. */
export interface Sandbox extends SandboxState {
  readonly url: string;
  readonly port: number;
  /** The first key. */
  readonly key: string;
  /** What a key has used and has left; by default the first one. */
  meter(text?: string): KeyMeter;
  addKey(more: KeyOptions): string;
  topUp(units: number): void;
  post(post?: ThesisFrameData): ThesisFrameData;
  postCallout(): Callout | undefined;
  setRate(perMinute: number): void;
  disconnect(how: Disconnect, code?: number): void;
  advance(ms: number): Promise<void>;
  setClock(time: number): void;
  /** The service then stays unreachable for `downMs` milliseconds. */
  restart(downMs?: number): void;
  close(): Promise<void>;
}

interface KeyMeter extends KeyUsage {
  readonly totalUnits: number;
  readonly totalReveals: number;
}

const serverOptions = {
  keepAliveTimeout: 60_000,
  noDelay: true,
  // Node 24.9 and later asks; older versions take every upgrade for one to serve.
  shouldUpgradeCallback: isForSocket,
};

/** The sockets of a sandbox, which a restart cuts and then refuses for a while. */
class Listener {
  readonly #sandbox: SandboxState;
  readonly #server: Server;
  #isDown = false;

  constructor(sandbox: SandboxState) {
    this.#sandbox = sandbox;
    const server = createServer(serverOptions, (request, response) => {
      serveCall(sandbox, request, response).catch(() => response.destroy());
    });
    server.on('connection', (socket) => {
      if (this.#isDown) socket.destroy();
    });
    server.on('upgrade', (request, _, head) => {
      serveUpgrade(sandbox, server, request, head).catch(() => request.socket.destroy());
    });
    this.#server = server;
  }

  /** The port, which is any free one for 0. */
  async listen(wanted: number): Promise<number> {
    const server = this.#server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', (cause) => reject(listenFailure(wanted, cause)));
      server.listen(wanted, '127.0.0.1', () => resolve());
    });
    const address = server.address();
    return typeof address === 'object' && address ? address.port : wanted;
  }

  restart(downMs: number): void {
    const { clock, rateWindows } = this.#sandbox;
    this.#cut();
    rateWindows.clear();
    this.#isDown = downMs > 0;
    if (!this.#isDown) return;
    clock.at(clock.now() + downMs, () => {
      this.#isDown = false;
    });
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#cut();
    await closed;
  }

  #cut(): void {
    for (const socket of [...this.#sandbox.sockets]) socket.disconnect('drop');
    this.#sandbox.resolves.clear();
    this.#server.closeAllConnections();
  }
}

export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = createState(options);
  const { clock, world, keys, sockets } = sandbox;
  const first = addKey(sandbox, options);
  sandbox.burstPerSecond =
    options.burstPerSecond ?? Math.max(sandbox.burstPerSecond, first.ratePerMinute);
  const listener = new Listener(sandbox);
  const port = await listener.listen(options.port ?? 0);
  followTerms(sandbox);
  if (options.replay) replay(sandbox, readRecording(options.replay.file), options.replay.speed);
  else setRate(sandbox, options.rate ?? 0);

  return Object.assign(sandbox, {
    url: `http://127.0.0.1:${port}`,
    port,
    key: first.text,
    meter(text = first.text) {
      const key = keys.get(text);
      if (!key) throw new Error('unknown key');
      const { totalUnits, totalReveals } = key;
      return { ...usageOf(key, clock.now()), totalUnits, totalReveals };
    },
    addKey: (more: KeyOptions) => addKey(sandbox, more).text,
    topUp: (units: number) => topUp(first, units),
    post: (thesis?: ThesisFrameData) => publishPost(sandbox, thesis),
    postCallout: () => world.addCallout(clock.now()),
    setRate: (perMinute: number) => setRate(sandbox, perMinute),
    disconnect(how: Disconnect, code?: number) {
      for (const socket of [...sockets]) socket.disconnect(how, code);
    },
    advance: (ms: number) => clock.advance(ms),
    setClock: (time: number) => clock.set(time),
    restart: (downMs = 0) => listener.restart(downMs),
    async close() {
      sandbox.cancelPosts();
      // Do not stop a clock that was passed as an option, because the caller may still use it.
      if (!options.clock) clock.stop();
      await listener.close();
    },
  });
}

const listenFailure = (port: number, cause: Error) =>
  new Failure('local', `the sandbox cannot listen on port ${port}: ${cause.message}`, {
    code: 'PORT',
    hint: 'use --port 0 to select a free port',
    cause,
  });

function publishPost(sandbox: SandboxState, thesis?: ThesisFrameData): ThesisFrameData {
  const { world, clock, faults, counts } = sandbox;
  const now = clock.now();
  const post = world.addThesis(now, thesis);
  counts.posts++;
  const { announceMs, hiddenMs, sellMs, vanishMs } = fateOfPost(faults.trigger('post', 'ws'));
  if (hiddenMs !== undefined) world.theses().withhold(post.id, now + hiddenMs);
  if (sellMs !== undefined)
    clock.at(now + sellMs, () => world.theses().change(post.id, (held) => sold(held, clock.now())));
  if (vanishMs !== undefined) clock.at(now + vanishMs, () => world.theses().remove(post.id));
  if (announceMs > 0) clock.at(now + announceMs, () => announce(sandbox, post));
  else announce(sandbox, post);
  return post;
}

/** The PnL becomes final when the position is closed. */
function sold(post: Thesis, now: number): Thesis {
  if (typeof post.closedAt === 'number') return post;
  const realizedPnlUsd = post.unrealizedPnlUsd ?? post.pnl ?? 0;
  return {
    ...post,
    closedAt: now,
    updatedAt: now,
    pnl: realizedPnlUsd,
    realizedPnlUsd,
    percentageRealizedPnl: post.percentageUnrealizedPnl ?? null,
    unrealizedPnlUsd: null,
    percentageUnrealizedPnl: null,
  };
}

function announce({ sockets }: SandboxState, post: ThesisFrameData): void {
  if (sockets.size === 0) return;
  const text = JSON.stringify({ type: 'thesis', data: post });
  for (const socket of sockets) socket.offer(post.id, post.tokenAddress ?? null, text);
}

function setRate(sandbox: SandboxState, perMinute: number): void {
  const { clock, world, seed } = sandbox;
  sandbox.cancelPosts();
  sandbox.cancelPosts = () => {};
  if (perMinute <= 0) return;
  const mean = 60_000 / perMinute;
  const cancelTheses = repeat(sandbox, randomOf(seed, 'posts'), mean, () => publishPost(sandbox));
  // The launchpad has fewer posts than the thesis feed.
  const cancelCallouts = repeat(sandbox, randomOf(seed, 'callouts'), mean * 4, () =>
    world.addCallout(clock.now()),
  );
  sandbox.cancelPosts = () => {
    cancelTheses();
    cancelCallouts();
  };
}

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

/** Each time is computed from the previous planned time, so that delays do not add up. */
function repeat(
  { clock }: SandboxState,
  random: Random,
  meanMs: number,
  event: () => void,
): () => void {
  let cancel = () => {};
  const arm = (from: number) => {
    const next = from + exponential(random, meanMs);
    cancel = clock.at(Math.ceil(next), () => {
      event();
      // If the clock was set forward, skip the events of the skipped time.
      arm(Math.max(next, clock.now() - 1_000));
    });
  };
  arm(clock.now());
  return () => cancel();
}

function replay(sandbox: SandboxState, recording: readonly ThesisFrameData[], speed: number): void {
  const { clock } = sandbox;
  const posts = recording.toSorted((one, other) => timeOf(one) - timeOf(other));
  const start = clock.now();
  const arm = (at: number) => {
    const first = posts[0];
    const recorded = posts[at];
    if (!first || !recorded) return;
    const due = Math.round(start + (timeOf(recorded) - timeOf(first)) / speed);
    sandbox.cancelPosts = clock.at(due, () => {
      publishPost(sandbox, movedTo(due, recorded));
      arm(at + 1);
    });
  };
  arm(0);
}

const timeOf = ({ platformCreatedAt }: ThesisFrameData) => platformCreatedAt ?? 0;

function movedTo(now: number, recorded: ThesisFrameData): ThesisFrameData {
  const shift = now - timeOf(recorded);
  const { closedAt, updatedAt } = recorded;
  return {
    ...recorded,
    platformCreatedAt: now,
    closedAt: closedAt && closedAt + shift,
    updatedAt: updatedAt && updatedAt + shift,
  };
}
