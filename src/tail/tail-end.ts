import type { Clock } from '../base/clock.ts';
import type { Failure } from '../base/failure.ts';
import { blockedAtEnd, endTooEarly, unanswered } from './failures.ts';
import type { EndReason, Gap, TailNotice } from './notice.ts';
import type { FeedOutput } from './output/feed-output.ts';
import type { TailOptions } from './ports.ts';
import type { Session } from './socket/session.ts';
import type { Timing } from './timing.ts';
import type { PageReader } from './walk/page-reader.ts';
import type { Walker } from './walk/walker.ts';

interface EndParts {
  readonly clock: Clock;
  readonly options: Pick<TailOptions, 'durationMs' | 'noFollow'>;
  readonly timing: Pick<Timing, 'closingMs'>;
  readonly walker: Pick<Walker, 'isStarted' | 'finale'> & {
    readonly reader: Pick<PageReader, 'pages' | 'trouble'>;
  };
  /** `walkPrint` is undefined when the rows of all walks are printed. */
  readonly printer: { readonly walkPrint: object | undefined };
  readonly session: Pick<Session, 'close'>;
  readonly output: Pick<FeedOutput, 'settle'>;
  /** The failure of the last attempt of a request. */
  readonly trouble: (() => Failure | undefined) | undefined;
  readonly notify: (notice: TailNotice) => void;
}

/** Why a run ends. */
export interface Ended {
  readonly reason: EndReason;
  readonly failure?: unknown;
}

/** When and why a run ends, and what it leaves unread. All times are monotonic. */
export class TailEnd {
  /** Undefined until the run ends. */
  ended: Ended | undefined;
  readonly gaps: Gap[] = [];
  #began: number;
  /** The last walk must be done at this time; so many pages were read before it. */
  #closing: { readonly at: number; readonly pages: number } | undefined;
  readonly #parts: EndParts;

  constructor(parts: EndParts) {
    this.#parts = parts;
    this.#began = parts.clock.mono();
  }

  begin(): void {
    this.#began = this.#parts.clock.mono();
  }

  get began(): number {
    return this.#began;
  }

  /** How long the run has lasted. */
  get ranMs(): number {
    return this.#parts.clock.mono() - this.#began;
  }

  /** How long the run will last at most. */
  get leftMs(): number {
    const { durationMs = Number.POSITIVE_INFINITY } = this.#parts.options;
    return Math.max(0, durationMs - this.ranMs);
  }

  get due(): number {
    return this.#closing?.at ?? this.#endsAt;
  }

  /** Ends the run; the first call decides why. */
  finish(reason: EndReason, failure?: unknown): void {
    this.ended ??= { reason, failure };
  }

  /** The shutdown of the run has failed. */
  failed(failure: unknown): void {
    this.ended = { reason: 'failure', failure };
  }

  report(gap: Gap): void {
    if (!gap.open) this.gaps.push(gap);
    this.#parts.notify({ kind: 'gap', ...gap });
  }

  /**
   * Ends a run that is due. After its duration, the socket is closed, and a last walk verifies the
   * feed.
   */
  step(): void {
    const { clock, options, timing, walker, printer, session, output } = this.#parts;
    const isPrinted = printer.walkPrint === undefined;
    if (options.noFollow && walker.isStarted && isPrinted && !output.settle()) {
      this.finish('caughtUp');
      return;
    }
    if (clock.mono() >= this.#endsAt && !walker.finale) {
      session.close();
      walker.finale = 'wanted';
      this.#closing = { at: clock.mono() + timing.closingMs, pages: walker.reader.pages };
    }
    if (this.#closing) this.#close(this.#closing);
  }

  /** Ends a run whose last walk is done, or takes too long. */
  #close({ at, pages }: { readonly at: number; readonly pages: number }): void {
    const { clock, walker, printer, output } = this.#parts;
    const { reader } = walker;
    const trouble = reader.trouble ?? this.#parts.trouble?.();
    // There is nothing to verify if the service was never reached.
    if (reader.pages === 0 && trouble) {
      this.finish('failure', trouble);
      return;
    }
    const isLate = clock.mono() >= at;
    const isWalked = walker.finale === 'done' && !printer.walkPrint;
    if (isWalked && (isLate || !output.settle())) this.finish('duration');
    else if (isLate) this.finish('failure', trouble ?? this.#failure(reader.pages > pages));
  }

  /** The last walk, or the printing of its rows, did not finish in time. */
  #failure(wasRead: boolean): Failure {
    if (this.#parts.output.settle()) return blockedAtEnd();
    return wasRead ? endTooEarly() : unanswered();
  }

  get #endsAt(): number {
    const { durationMs } = this.#parts.options;
    return durationMs === undefined ? Number.POSITIVE_INFINITY : this.#began + durationMs;
  }
}
