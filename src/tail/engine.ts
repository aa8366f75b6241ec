import { Failure } from '../base/failure.ts';
import type { TailMode } from '../contract/tail-modes.ts';
import { stopText } from '../core/pages/read-pages.ts';
import { BLOCKED, ceilingReached } from './failures.ts';
import type { Stretched, Summary, TailCounts, TailStatus } from './notice.ts';
import { createParts, type TailParts } from './parts.ts';
import type { TailOptions, TailPorts } from './ports.ts';
import type { Printed, WalkPrint } from './row-printer.ts';
import { isOutOfUnits } from './spend/units-left.ts';
import type { Walked } from './walk/walk.ts';
import type { Connection } from './walk/walker.ts';

/**
 * Runs a tail: a loop that lets each part make a step whenever something wakes it. The loop itself
 * waits for nothing else.
 */
export class Tail {
  readonly #ports: TailPorts;
  readonly #options: TailOptions;
  readonly #parts: TailParts;
  /** Aborted when the run is over, whatever ended it. */
  readonly #over = new AbortController();
  #turns = 0;
  #told: Stretched | undefined;
  #isAnnounced = false;
  /**
   * The spending limit with which the walk that ended at the limit would have reached what is
   * verified.
   */
  #neededCeiling: number | null = null;

  constructor(ports: TailPorts, options: TailOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#parts = createParts(ports, options, this.#over.signal);
  }

  /**
   * Causes one turn of the loop, which increases `turns`: so a watchdog notices a loop that hangs.
   */
  wake(): void {
    this.#parts.wakeup.wake();
  }

  /** Saves the position soon, because the output continues in another file. */
  saveSoon(): void {
    this.#parts.output.saveSoon();
    this.wake();
  }

  /**
   * Runs until the tail is stopped, has done what was asked, or fails; throws a failure after the
   * `end` notice.
   */
  async run(signal: AbortSignal): Promise<Summary> {
    const stop = () => {
      this.#over.abort(signal.reason);
      this.wake();
    };
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    try {
      await this.#begin();
      await this.#loop();
    } catch (error) {
      if (!this.#over.signal.aborted) this.#parts.end.finish('failure', error);
    }
    await this.#finish();
    signal.removeEventListener('abort', stop);
    return this.#summarize();
  }

  status(): TailStatus {
    const { walker, session, money, end, rate, output } = this.#parts;
    const { trouble, waitsUntil } = walker.reader;
    const { perMinute } = this.#parts.planner.plan();
    const { completeAt } = walker;
    return {
      ...this.#counts(),
      ready: walker.wasVerified,
      mode: this.#mode(),
      reconnects: Math.max(0, session.connections - 1),
      rate: rate.perSecond,
      gaps: end.gaps.length,
      lastPost: output.lastPost,
      turns: this.#turns,
      neededCeiling: this.#neededCeiling,
      failing: trouble !== undefined && !isOutOfUnits(trouble),
      waitsUntil,
      budgets: money.budgets,
      limitLeft: this.#options.limitLeft?.() ?? null,
      allowanceLeft: money.allowanceLeft,
      perMinute: waitsUntil === null ? perMinute[session.mode] : 0,
      walkedAgoMs: completeAt === undefined ? null : this.#ports.clock.mono() - completeAt,
    };
  }

  /** Learns what is left, and decides how the run begins. */
  async #begin(): Promise<void> {
    const { wakeup, money, planner, streaming, end, hasSocket } = this.#parts;
    end.begin();
    await money.first(
      () => wakeup.wait(end.due),
      () => end.leftMs === 0,
    );
    const { why } = planner.plan();
    if (why && hasSocket) streaming.begin(why);
    // How long a budget lasts depends on the rate of the feed, which the first page shows.
    if (!why || planner.stretched() === undefined) this.#announce();
  }

  /** Reports how the run begins, and what it will cost. */
  #announce(): void {
    const { planner, session, rate, hasSocket, notify } = this.#parts;
    const { start, noFollow, lagMs } = this.#options;
    const { why, perMinute } = planner.plan();
    const { mode } = session;
    const other = mode === 'poll' ? 'ws' : 'poll';
    this.#isAnnounced = true;
    this.#told = mode === 'poll' ? planner.stretched() : undefined;
    notify({
      kind: 'start',
      from: start.kind,
      noFollow: noFollow === true,
      mode,
      why,
      lagMs,
      perMinute: perMinute[mode],
      isLeast: rate.perSecond === 0,
      stretched: this.#told,
      other: hasSocket ? { mode: other, perMinute: perMinute[other] } : null,
    });
  }

  async #loop(): Promise<void> {
    const { end, money, session, wakeup } = this.#parts;
    while (!end.ended) {
      this.#turns++;
      if (this.#over.signal.aborted) {
        end.finish('stopped');
        return;
      }
      end.step();
      if (end.ended || (await this.#step())) continue;
      money.step(session.mode === 'ws', session.minutes);
      this.#tellStretched();
      await wakeup.wait(this.#due);
    }
  }

  /** Lets the parts make one step, the most urgent one first; returns whether anything happened. */
  async #step(): Promise<boolean> {
    const { printer, walker, streaming } = this.#parts;
    if (this.#took(await printer.step(walker.isPlaced))) return true;
    const walked = walker.finished();
    if (walked) printer.begin(walked);
    if (walked || (this.#mayWalk && walker.step(this.#connection))) return true;
    return streaming.step(this.#mayDial);
  }

  /** Acts on what the printer has done; returns whether it has done anything. */
  #took(printed: Printed): boolean {
    if (printed.kind === 'ended') this.#parts.end.finish(printed.reason);
    if (printed.kind === 'walkPrinted') this.#conclude(printed.walkPrint);
    return printed.kind !== 'nothing';
  }

  /**
   * All rows of a walk were printed: learns what this proves, and what it shows of the feed and of
   * the WebSocket.
   */
  #conclude({ walked, printed }: WalkPrint): void {
    const { known, walker, printer, session, rate, end, notify } = this.#parts;
    const { cut, depth, failure, pages } = walked;
    const isFirst = !walker.isStarted;
    if (cut !== undefined && cut !== 'unpaid') {
      const gap = known.giveUp(walked.oldest, stopText(cut));
      if (gap) end.report({ ...gap, why: cut, open: false });
    }
    rate.learn(walked);
    if (!this.#isAnnounced) this.#announce();
    if (!isFirst && session.mode === 'ws') printer.filled += printed;
    if (isFirst && depth !== 'start') notify({ kind: 'caughtUp', rows: printed, pages });
    walker.printed(walked);
    if (cut === 'unpaid') {
      this.#neededCeiling = this.#ceilingFor(walked);
      end.finish('failure', failure ?? ceilingReached());
    } else if (depth !== 'shallow') {
      if (cut === undefined) known.readAt = walked.readAt;
      session.judge(walked.startedAt, known.sigma);
    }
  }

  /**
   * The spending limit with which the walk would have reached what is verified; null if this cannot
   * be estimated.
   */
  #ceilingFor({ times, oldest, rows }: Walked): number | null {
    const { verified } = this.#parts.known;
    const { stepCu, sizes } = this.#ports.source;
    const newest = times.find((at) => at !== null) ?? null;
    if (verified === null || newest === null || oldest === null) return null;
    if (oldest <= verified || newest <= oldest) return null;
    const rowsLeft = (rows * (oldest - verified)) / (newest - oldest);
    const stepsLeft = Math.ceil((rowsLeft * MARGIN + sizes.max) / sizes.step);
    return ROUND_TO * Math.ceil((this.#ports.spent().atMost + stepsLeft * stepCu) / ROUND_TO);
  }

  /** No walk may begin if its rows could not be written, or would exceed --count. */
  get #mayWalk(): boolean {
    const { printer, output } = this.#parts;
    const isFull = this.#ports.output.disk?.wait() !== undefined;
    return !printer.walkPrint && output.left > 0 && !isFull;
  }

  /**
   * Only then is a WebSocket opened: an open one is charged by the minute, even while nothing can
   * be printed.
   */
  get #mayDial(): boolean {
    const { walker, printer, output } = this.#parts;
    const isQuiet = !walker.isWalking && !printer.walkPrint && !output.settle();
    return walker.isStarted && isQuiet;
  }

  get #connection(): Connection {
    const { session, planner, end } = this.#parts;
    return {
      mode: session.mode,
      isConnected: session.isConnected,
      downSince: session.downSince ?? end.began,
      pollMs: session.mode === 'poll' ? planner.plan().pollMs : 0,
    };
  }

  get #due(): number {
    const { walker, streaming, printer, money, end } = this.#parts;
    return Math.min(
      this.#mayWalk ? walker.due(this.#connection) : Number.POSITIVE_INFINITY,
      streaming.due(this.#mayDial),
      printer.due,
      money.due,
      end.due,
    );
  }

  /**
   * Reports that a budget requires a longer interval: once in each of its periods, and again when
   * it has doubled.
   */
  #tellStretched(): void {
    const { session, walker, planner, notify } = this.#parts;
    if (session.mode !== 'poll' || !walker.isStarted) return;
    const stretched = planner.stretched();
    const isNews =
      this.#told?.until !== stretched?.until ||
      (stretched?.everyMs ?? 0) > 2 * (this.#told?.everyMs ?? 0);
    if (!stretched || !isNews) return;
    this.#told = stretched;
    notify({ kind: 'stretched', perMinute: planner.plan().perMinute.poll, stretched });
  }

  #mode(): TailMode {
    const { walker, session } = this.#parts;
    if (walker.reader.waitsUntil !== null) return 'waiting';
    if (session.mode === 'poll') return 'polling';
    return session.isConnected ? 'streaming' : 'connecting';
  }

  #counts(): TailCounts {
    const { output, printer, nameless, session, walker, known } = this.#parts;
    return {
      rows: output.rows,
      earlier: output.earlier,
      filled: printer.filled,
      late: printer.late,
      printed: output.printed,
      held: output.held,
      nameless: nameless.count,
      connections: session.connections,
      pages: walker.reader.pages,
      spent: this.#ports.spent(),
      // If the output failed, state no time: posts that were read may not have been written.
      verified: output.failed || this.#isUnwritten ? null : known.verified,
      readAt: known.readAt,
      isUnseen: known.isUnseen,
    };
  }

  /**
   * Whether the run ended because of a failure on this machine, for example of its output or a
   * file.
   */
  get #isUnwritten(): boolean {
    const failure = this.#parts.end.ended?.failure;
    return failure instanceof Failure && failure.kind === 'local';
  }

  /** Reports what was not read, and shuts down. */
  async #finish(): Promise<void> {
    const { end } = this.#parts;
    end.finish('stopped');
    if (end.ended?.reason === 'failure') this.#reportUnread(end.ended.failure);
    this.#over.abort();
    try {
      await this.#shutDown();
    } catch (error) {
      const failure = end.ended?.failure;
      // The write that failed is the reason why the output was blocked.
      const isBlocked = failure instanceof Failure && failure.code === BLOCKED;
      if (failure === undefined || isBlocked) end.failed(error);
    }
  }

  /**
   * Saves the last position and flushes, within a limited time: a blocked output must not prevent
   * the end of the run.
   */
  async #shutDown(): Promise<void> {
    const { session, output, wakeup, timing } = this.#parts;
    const { clock } = this.#ports;
    session.close();
    await output.stop();
    const grace = new AbortController();
    const timeout = clock.sleep(timing.closingMs, grace.signal).then(
      () => {},
      () => {},
    );
    const work = this.#settle();
    try {
      await Promise.race([work, timeout]);
    } finally {
      grace.abort();
      wakeup.close();
      work.catch(() => {});
    }
  }

  async #settle(): Promise<void> {
    const { output, walker, money, session } = this.#parts;
    await Promise.all([output.settled(), walker.settled(), money.settled(), session.settled()]);
    await output.finish();
  }

  /** Reports that the posts since the last verification were not read. */
  #reportUnread(error: unknown): void {
    const { output, walker, known, end } = this.#parts;
    if (output.failed || !walker.isPlaced) return;
    end.report({
      why: { failure: error instanceof Failure ? messageOf(error) : String(error) },
      from: known.verified ?? known.start,
      to: null,
      open: this.#ports.output.save !== undefined,
      neededCeiling: this.#neededCeiling,
    });
  }

  #summarize(): Summary {
    const { end, notify } = this.#parts;
    const { reason, failure } = end.ended ?? { reason: 'stopped' as const };
    const summary: Summary = {
      reason,
      ...this.#counts(),
      gaps: end.gaps,
      durationMs: end.ranMs,
    };
    notify({ kind: 'end', summary });
    if (reason === 'failure') throw failure;
    return summary;
  }
}

/** The margin of an estimate: posts may be more frequent further back. */
const MARGIN = 1.2;
const ROUND_TO = 1_000;

const messageOf = ({ status, message, code }: Failure) =>
  status === undefined ? message : `${message} (${code})`;
