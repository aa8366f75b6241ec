import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { Failure } from '../base/failure.ts';
import type { ThesisFrameData } from '../contract/records/thesis.ts';
import type { SandboxClock } from './clock.ts';
import type { Faults } from './faults/engine.ts';
import type { KeyOptions } from './keys/key.ts';
import type { MeterReading } from './keys/key-meter.ts';
import type { SandboxOptions } from './options.ts';
import {
  type ControlInput,
  type ControlName,
  type ControlOutput,
  createControls,
  type Verbs,
} from './server/control.ts';
import { createCalls } from './server/http/api.ts';
import { CONTROL_PATH, serveControl } from './server/http/control-endpoint.ts';
import { passOver, wantsSocket } from './server/http/unsupported-upgrade.ts';
import { kernelOf } from './server/parts.ts';
import type { LogEntry } from './server/request-log.ts';
import { createGate } from './server/socket/socket-server.ts';
import { type State, stateReader } from './server/state-report.ts';
import { readRecording } from './world/index.ts';
import type { World } from './world/types.ts';

export { manualClock } from './clock.ts';
export { parseFaults } from './faults/grammar.ts';
export { planNames } from './keys/plans.ts';
export type { SandboxOptions } from './options.ts';

/** A running sandbox: the service, and what tests and the curious may see and do behind it. */
export interface Sandbox {
  readonly url: string;
  readonly port: number;
  /** The first key, which works. */
  readonly key: string;
  readonly world: World;
  readonly clock: SandboxClock;
  readonly faults: Faults;
  /** The newest requests, refused ones too, with what each was charged. */
  readonly log: readonly LogEntry[];
  /** What the sandbox is doing: the same as the control call's `state`. */
  state(): State;
  /** What a key has used; the first key unless another is named. */
  meter(key?: string): MeterReading;
  addKey(options: KeyOptions): string;
  /** One live post now: the world's next, or the one given. */
  post(given?: ThesisFrameData): ThesisFrameData;
  /** Lets simulated time pass. */
  advance(ms: number): Promise<void>;
  /** Jumps to an instant. */
  setClock(time: number): void;
  /** Any verb of the control call. */
  control<N extends ControlName>(name: N, input: ControlInput<N>): Promise<ControlOutput<N>>;
  /** Breaks every connection and forgets all but the books, as a restart does. */
  restart(downMs?: number): void;
  close(): Promise<void>;
}

/** Starts the embedded service on loopback. It answers when the promise resolves. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const kernel = kernelOf(options);
  const { clock, faults, feed, admission, log, world, settings } = kernel;
  const first = admission.add(options);
  const gate = createGate(kernel);
  const calls = createCalls(kernel);
  const connections = new Set<Socket>();
  const steering = new Set<Socket>();
  let down = false;

  const restart = (downMs = 0) => {
    gate.destroy();
    kernel.resolves.forget();
    admission.forget();
    // Whoever steers the sandbox keeps the line: it is no part of the service.
    for (const socket of connections) if (!steering.has(socket)) socket.destroy();
    if (downMs === 0) return;
    down = true;
    clock.at(clock.now() + downMs, () => {
      down = false;
    });
  };
  const state = stateReader(kernel, gate, () => calls.inFlight);
  const controls: Verbs = createControls({ kernel, gate, state, restart });

  const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
    const isControl = request.url?.startsWith(`${CONTROL_PATH}/`) ?? false;
    if (down && !isControl) return void request.socket.destroy();
    if (isControl) steering.add(request.socket);
    else steering.delete(request.socket);
    const served = isControl ? serveControl(controls, request, response) : calls.serve(request, response);
    served.catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    if (down) return void socket.destroy();
    // One that offered another protocol comes in anew with each offer.
    if (connections.has(socket)) return;
    connections.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      connections.delete(socket);
      steering.delete(socket);
    });
  });
  server.on('upgrade', (request, _, head) => {
    if (!wantsSocket(request)) return passOver(server, request, head);
    gate.upgrade(request, request.socket, head).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(unheard(settings.port, cause)));
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
      if (!key) throw new Error('No key of this sandbox is called that.');
      return key.meter.reading();
    },
    addKey: (more) => admission.add(more).text,
    post: feed.post,
    advance: (ms) => clock.advance(ms),
    setClock: (time) => clock.set(time),
    control: (name, input) => controls[name].run(input),
    restart,
    async close() {
      feed.setRate(0);
      gate.destroy();
      // A clock that was given may serve others as well.
      if (!options.clock) clock.stop();
      kernel.resolves.forget();
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of connections) socket.destroy();
      await closed;
    },
  };
}

/** Why nobody can listen at a port, in words. */
const unheard = (port: number, cause: Error) =>
  new Failure('local', `The sandbox can't listen on port ${port}: ${cause.message}.`, {
    code: 'PORT',
    hint: 'Another program may have it; --port 0 takes a free one.',
    cause,
  });
