import type { Socket } from 'node:net';
import type { Callout } from '../../src/contract/records/launchpad.ts';
import type { ThesisFrameData } from '../../src/contract/records/thesis.ts';
import type { Disconnect } from '../../src/sandbox/faults/effects.ts';
import {
  cutConnections,
  type SandboxOptions as Options,
  startSandbox as start,
} from '../../src/sandbox/index.ts';
import { type KeyOptions, usageOf } from '../../src/sandbox/keys.ts';
import { publishPost } from '../../src/sandbox/live-posts.ts';
import { addKey, type SandboxState } from '../../src/sandbox/state.ts';
import { runningClock, type TestClock } from './clock.ts';

export interface SandboxOptions extends Options {
  /** The time at which a clock starts that was not passed. */
  readonly now?: number;
  readonly clock?: TestClock;
}

/** The usage of a key, and what it has used in all months. */
interface KeyMeter extends ReturnType<typeof usageOf> {
  readonly totalUnits: number;
  readonly totalReveals: number;
}

/** A running sandbox: its state, and what tests do to it. */
export interface Sandbox extends SandboxState {
  readonly clock: TestClock;
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
  disconnect(how: Disconnect, code?: number): void;
  advance(ms: number): Promise<void>;
  setClock(time: number): void;
  /** The service then stays unreachable for `downMs` milliseconds. */
  restart(downMs?: number): void;
  close(): Promise<void>;
}

/** Starts a sandbox whose time, posts and connections the test can move, add and cut. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const clock = options.clock ?? runningClock(options.now);
  const { url, port, key, state, server, close } = await start({ ...options, clock });
  const { world, keys, sockets, rateWindows } = state;
  const keyOf = (text: string) => {
    const found = keys.get(text);
    if (!found) throw new Error('unknown key');
    return found;
  };
  const refuse = (socket: Socket) => void socket.destroy();
  return Object.assign(state, {
    clock,
    url,
    port,
    key,
    meter(text = key) {
      const { totalUnits, totalReveals } = keyOf(text);
      return { ...usageOf(keyOf(text), clock.now()), totalUnits, totalReveals };
    },
    addKey: (more: KeyOptions) => addKey(state, more).text,
    topUp(units: number) {
      const own = keyOf(key);
      own.additionalUnits += units;
      own.wasGranted ||= units > 0;
    },
    post: (thesis?: ThesisFrameData) => publishPost(state, thesis),
    postCallout: () => world.addCallout(clock.now()),
    disconnect(how: Disconnect, code?: number) {
      for (const socket of [...sockets]) socket.disconnect(how, code);
    },
    advance: (ms: number) => clock.advance(ms),
    setClock: (time: number) => clock.set(time),
    restart(downMs = 0) {
      cutConnections(state, server);
      rateWindows.clear();
      if (downMs <= 0) return;
      server.on('connection', refuse);
      clock.at(clock.now() + downMs, () => server.off('connection', refuse));
    },
    async close() {
      if (!options.clock) clock.stop();
      await close();
    },
  });
}
