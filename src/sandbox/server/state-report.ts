import type { SandboxParts } from './parts.ts';
import type { SocketServer } from './socket/socket-server.ts';

/** Creates the report of the state of a sandbox. */
export const stateReporter =
  (
    { world, clock, faults, feed, admission, resolves, log, settings }: SandboxParts,
    sockets: SocketServer,
    inFlight: () => number,
  ) =>
  () => ({
    now: clock.now(),
    settings,
    posts: feed.posted,
    theses: world.theses.count,
    requests: log.count,
    /** The number of calls without a response yet. */
    inFlight: inFlight(),
    /** How many live resolves were started, and how many calls are waiting for one. */
    resolves: { started: resolves.started, waiting: resolves.waiting },
    faults: { spec: faults.text, triggered: faults.triggered },
    sockets: sockets.connections.map(({ id, key, answered }) => ({ id, key: key.id, answered })),
    /** The usage of each key, by the text of the key. */
    keys: Object.fromEntries(
      admission.keys.map(({ id, text, plan, meter }) => [text, { id, plan, ...meter.reading() }]),
    ),
  });

export type StateReport = ReturnType<ReturnType<typeof stateReporter>>;
