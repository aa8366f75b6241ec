import { createDeadline } from './deadline.ts';
import { createFlow } from './flow.ts';
import type { EndReason } from './notice.ts';
import type { TailOptions } from './options.ts';
import { snapshotOf } from './output/checkpoint.ts';
import { createCheckpointer } from './output/checkpointer.ts';
import { createPrinting, type Printing } from './output/printing.ts';
import { createTailWriter } from './output/writer.ts';
import type { TailPorts } from './ports.ts';
import { createTailReport } from './report.ts';
import { createSeen } from './seen/seen.ts';
import { createSession } from './socket/session.ts';
import { createSocketPolicy } from './socket/socket-policy.ts';
import { createCostMeter } from './spend/cost-meter.ts';
import { createRate } from './spend/pace.ts';
import { createTailSpend } from './spend/tail-spend.ts';
import { timing as defaults, type Timing } from './timing.ts';
import { createWakeup } from './wakeup.ts';
import { createConclusions } from './walk/conclusions.ts';
import { createWalker, type Walker } from './walk/walker.ts';

const FIRST_TRIES = 6;

/** Why a run ended, and the failure that ended it. */
export interface Ending {
  readonly reason: EndReason;
  readonly failure?: unknown;
}

/** Creates and connects the parts of a tail. */
export function createTailParts(
  ports: TailPorts,
  options: TailOptions,
  signal: AbortSignal,
  finish: (ending: Ending) => void,
) {
  const { clock, source, sink, save } = ports;
  const timing: Timing = { ...defaults, ...options.timing };
  const notify = options.on ?? (() => {});
  const wakeup = createWakeup(clock);
  const { wake } = wakeup;
  const { via, lagMs, waitForBudget = false } = options;
  const connect = via === 'poll' ? undefined : ports.connect;
  const byFile = options.fileIsCheckpoint ?? options.start.kind === 'file';
  const meter = createCostMeter(clock.mono, source.spent);
  const writer = createTailWriter(sink, wake, clock.now);
  const rate = createRate();
  const report = createTailReport(notify);
  const flow = createFlow({
    start: options.start,
    timing,
    writer,
    byFile,
    saves: save !== undefined,
    seen: (options.seen ?? createSeen)(Number.NEGATIVE_INFINITY, timing.seenMax),
    scope: options.scope ?? (() => true),
    filter: options.filter ?? (() => true),
    carries: options.carries ?? (() => true),
    count: options.count ?? Number.POSITIVE_INFINITY,
  });
  const checkpointer =
    save &&
    createCheckpointer({
      clock,
      timing,
      wake,
      flush: sink.flush,
      save,
      snapshot: () => snapshotOf(options.feed, flow),
    });
  const spend = createTailSpend({
    world: ports,
    timing,
    meter,
    rate,
    wake,
    signal,
    via,
    lagMs,
    ceiling: options.ceiling,
    raise: options.raise,
    durationMs: options.durationMs,
    price: { step: source.sizes.step, cu: source.price(source.sizes.step) },
    hasSocket: connect !== undefined,
    socketShare: options.socketShare ?? 1,
  });
  const walker: Walker = createWalker({
    world: ports,
    timing,
    flow,
    notify,
    wake,
    signal,
    lagMs,
    afford: spend.afford,
    paid: meter.paid,
    lost: meter.lost,
    nameless: report.nameless,
    firstTries: options.firstTries ?? FIRST_TRIES,
    waitForBudget,
  });
  const session = createSession({
    clock,
    random: ports.random,
    timing,
    connect,
    meter,
    wake,
    signal,
    subscription: options.subscription ?? { type: 'all' },
  });
  const policy = createSocketPolicy({
    clock,
    session,
    via,
    spend,
    meter,
    notify,
    waitForBudget,
    subscribed: walker.subscribed,
    polls: walker.want,
  });
  const end = (reason: EndReason, failure?: unknown) => finish({ reason, failure });
  const conclude = createConclusions({
    clock,
    flow,
    walker,
    session,
    policy,
    rate,
    report,
    notify,
    printing: () => printing,
    spent: (failure) => end('failure', failure),
  });
  const printing: Printing = createPrinting({
    clock,
    timing,
    flow,
    writer,
    checkpointer,
    session,
    walker,
    report,
    byFile,
    notify,
    filled: conclude,
    finish: end,
  });
  const deadline = createDeadline({
    clock,
    timing,
    durationMs: options.durationMs,
    session,
    walker,
    flow,
    writer,
    finish: end,
  });
  return {
    wakeup,
    timing,
    notify,
    meter,
    writer,
    rate,
    report,
    flow,
    checkpointer,
    spend,
    walker,
    session,
    policy,
    printing,
    deadline,
  };
}
