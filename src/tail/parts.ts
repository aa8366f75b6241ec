import { FeedRate } from './feed-rate.ts';
import { KnownPosts } from './known-posts.ts';
import type { TailNotice } from './notice.ts';
import { FeedOutput } from './output/feed-output.ts';
import type { StartPoint, TailOptions, TailPorts } from './ports.ts';
import type { PostFields } from './post-row.ts';
import { NamelessCounter } from './posts-without-id.ts';
import { RowPrinter } from './row-printer.ts';
import { Session } from './socket/session.ts';
import { Streaming } from './socket/streaming.ts';
import { Planner } from './spend/planner.ts';
import { Money } from './spend/units-left.ts';
import { TailEnd } from './tail-end.ts';
import { timing as defaults, type Timing } from './timing.ts';
import { Wakeup } from './wakeup.ts';
import { Walker } from './walk/walker.ts';

/**
 * The parts of one run. Each has its own state, and changes that of others only through their
 * verbs.
 */
export interface TailParts {
  readonly wakeup: Wakeup;
  readonly known: KnownPosts;
  readonly nameless: NamelessCounter;
  readonly rate: FeedRate;
  readonly money: Money;
  readonly session: Session;
  readonly output: FeedOutput;
  readonly walker: Walker;
  readonly printer: RowPrinter;
  readonly end: TailEnd;
  readonly planner: Planner;
  readonly streaming: Streaming;
  readonly timing: Timing;
  /** Whether the run may use the WebSocket of the feed. */
  readonly hasSocket: boolean;
  readonly notify: (notice: TailNotice) => void;
}

/** Creates the parts of a run, those that others need first. */
export function createParts(
  allPorts: TailPorts,
  options: TailOptions,
  signal: AbortSignal,
): TailParts {
  const ports = { ...allPorts, connect: options.via === 'poll' ? undefined : allPorts.connect };
  const { clock } = ports;
  const knowing = createKnowing(ports, options, signal);
  const { timing, known, nameless, money, session, notify } = knowing;
  const { wake } = knowing.wakeup;
  const skip = (records: readonly PostFields[]) => {
    if (nameless.add(records)) notify({ kind: 'nameless' });
  };
  const walker = new Walker({ ports, options, timing, known, money, signal, wake, notify, skip });
  const output = createOutput(ports, options, known, walker, wake);
  const printer = new RowPrinter({
    clock,
    options,
    timing,
    known,
    output,
    session,
    skip,
    notify,
  });
  const { trouble } = ports;
  const end = new TailEnd({
    clock,
    options,
    timing,
    walker,
    printer,
    session,
    output,
    trouble,
    notify,
  });
  const planner = new Planner({ ...knowing, ports, options, walker, end });
  const streaming = new Streaming({ clock, options, session, planner, money, walker, notify });
  return { ...knowing, output, walker, printer, end, planner, streaming };
}

/** Creates the parts that know something, and need no other part. */
function createKnowing(ports: TailPorts, options: TailOptions, signal: AbortSignal) {
  const { clock } = ports;
  const timing: Timing = { ...defaults, ...options.timing };
  const wakeup = new Wakeup(clock);
  const { wake } = wakeup;
  return {
    wakeup,
    timing,
    known: knownAt(options.start, timing),
    nameless: new NamelessCounter(),
    rate: new FeedRate(clock.mono()),
    money: new Money(ports, options, timing, wake, signal),
    session: new Session(ports, options, timing, wake, signal),
    hasSocket: ports.connect !== undefined,
    notify: options.on ?? (() => {}),
  };
}

function knownAt(start: StartPoint, { latenessMs }: Timing): KnownPosts {
  if (start.kind === 'position') {
    const { position } = start;
    return new KnownPosts(position, { deliveredTo: position.verified, latenessMs });
  }
  const since = start.kind === 'since' ? start.at - 1 : null;
  return new KnownPosts({ start: since, verified: since }, { latenessMs });
}

function createOutput(
  { clock, output }: TailPorts,
  { feed, start, count }: TailOptions,
  known: KnownPosts,
  walker: Walker,
  wake: () => void,
): FeedOutput {
  return new FeedOutput({
    ...output,
    clock,
    wake,
    count,
    take: () => (walker.isPlaced ? { feed, ...known.state } : undefined),
    // A position from which this run continues is as good as a newer one.
    isSafe: start.kind === 'position',
  });
}
