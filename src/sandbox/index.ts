import { createServer } from 'node:http';
import { Failure } from '../base/failure.ts';
import type { ThesisFrameData } from '../contract/records/thesis.ts';
import { serveCall } from './http/serve.ts';
import { type KeyOptions, topUp, usageOf } from './keys.ts';
import { exponential, type Random, randomOf } from './random.ts';
import { serveUpgrade } from './socket/upgrade.ts';
import {
  addKey,
  createState,
  type OpenSocket,
  type SandboxOptions,
  type SandboxState,
} from './state.ts';
import { readRecording } from './world/load.ts';
import { TERM_MS } from './world/people.ts';

export { parseFaults } from './faults/grammar.ts';
export { planNames } from './keys.ts';
export type { SandboxOptions } from './state.ts';

/** A running sandbox: its state, and what tests do to it. @internal Exported for tests. */
export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

export async function startSandbox(options: SandboxOptions = {}) {
  const sandbox = createState(options);
  const { clock, world, keys, sockets, resolves, rateWindows } = sandbox;
  const first = addKey(sandbox, options);
  const { burstPerSecond = Math.max(sandbox.burstPerSecond, first.ratePerMinute) } = options;
  sandbox.burstPerSecond = burstPerSecond;
  let down = false;

  const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
    serveCall(sandbox, request, response).catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    if (down) socket.destroy();
  });
  server.on('upgrade', (request, _, head) => {
    serveUpgrade(sandbox, server, request, head).catch(() => request.socket.destroy());
  });
  const { port: wanted = 0 } = options;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(listenFailure(wanted, cause)));
    server.listen(wanted, '127.0.0.1', () => resolve());
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : wanted;

  followTerms(sandbox);
  if (options.replay) replay(sandbox, readRecording(options.replay.file), options.replay.speed);
  else setRate(sandbox, options.rate ?? 0);

  function closeConnections() {
    for (const socket of [...sockets]) socket.disconnect('drop');
    resolves.clear();
    server.closeAllConnections();
  }

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
    post: (given?: ThesisFrameData) => publishPost(sandbox, given),
    postCallout: () => world.addCallout(clock.now()),
    setRate: (perMinute: number) => setRate(sandbox, perMinute),
    disconnect(...how: Parameters<OpenSocket['disconnect']>) {
      for (const socket of [...sockets]) socket.disconnect(...how);
    },
    advance: (ms: number) => clock.advance(ms),
    setClock: (time: number) => clock.set(time),
    /** The service then stays unreachable for `downMs` milliseconds. */
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

function publishPost(sandbox: SandboxState, given?: ThesisFrameData): ThesisFrameData {
  const { world, clock, faults, counts } = sandbox;
  const now = clock.now();
  const post = world.addThesis(now, given);
  counts.posts++;
  let announceAt = now;
  for (const { kind, ms } of faults.trigger('post', 'ws')) {
    const then = now + ms;
    if (kind === 'late' || kind === 'lag') world.theses().withhold(post.id, then);
    if (kind === 'late') announceAt = Math.max(announceAt, then);
    if (kind === 'vanish') clock.at(then, () => world.theses().remove(post.id));
  }
  if (announceAt > now) clock.at(announceAt, () => announce(sandbox, post));
  else announce(sandbox, post);
  return post;
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
    const [first, recorded] = [posts[0], posts[at]];
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
