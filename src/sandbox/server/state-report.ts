import type { Kernel } from './parts.ts';
import type { Gate } from './socket/socket-server.ts';

/** Looks at a sandbox from behind; the control call's `state` shows the same. */
export const stateReader =
  (
    { world, clock, faults, feed, admission, resolves, log, settings }: Kernel,
    gate: Gate,
    inFlight: () => number,
  ) =>
  () => ({
    now: clock.now(),
    settings,
    posts: feed.posted,
    theses: world.theses.count,
    requests: log.count,
    /** Calls that were not answered yet. */
    inFlight: inFlight(),
    /** Live resolves that were begun, and the calls that wait for one now. */
    resolves: { started: resolves.started, waiting: resolves.waiting },
    faults: { spec: faults.text, struck: faults.struck },
    sockets: gate.sessions.map(({ id, key, answered }) => ({ id, key: key.id, answered })),
    /** What each key has used, by its text. */
    keys: Object.fromEntries(
      admission.keys.map(({ id, text, plan, meter }) => [text, { id, plan, ...meter.reading() }]),
    ),
  });

/** What a sandbox is doing. */
export type State = ReturnType<ReturnType<typeof stateReader>>;
