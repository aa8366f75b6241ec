import { Failure } from '../../base/failure.ts';
import { renewalOf } from '../../base/periods.ts';
import { BUDGET } from '../../contract/budget.ts';
import { cu } from '../../contract/limits.ts';
import { Job } from '../background-job.ts';
import type { KeyFacts, TailOptions, TailPorts } from '../ports.ts';
import type { Timing } from '../timing.ts';

/** What is left to spend: by the limit of the run, the units of the key, and the budgets. */
export class Money {
  facts: KeyFacts | undefined;
  /**
   * No connection is opened before this time, because the service or a budget has just refused a
   * minute.
   */
  refusedUntil = Number.NEGATIVE_INFINITY;
  #refusedBy: 'budget' | 'key' = 'budget';
  #job: Job<KeyFacts> | undefined;
  #limitsJob: Job<string> | undefined;
  #limitsDue: number;
  #limits: string | undefined;
  /** Aborted when the limit of a budget changes. */
  #changed = new AbortController();
  #next: number;
  #unitsThen: number | null = null;
  #share: { readonly of: number; readonly minutes: number; readonly resetsAt: number } | undefined;
  readonly #ports: TailPorts;
  readonly #options: TailOptions;
  readonly #timing: Timing;
  readonly #wake: () => void;
  readonly #signal: AbortSignal;

  constructor(
    ports: TailPorts,
    options: TailOptions,
    timing: Timing,
    wake: () => void,
    signal: AbortSignal,
  ) {
    this.#ports = ports;
    this.#options = options;
    this.#timing = timing;
    this.#wake = wake;
    this.#signal = signal;
    this.#next = ports.clock.mono();
    this.#limitsDue = ports.clock.mono();
  }

  get allowanceLeft(): number | null {
    return this.#ports.left?.key?.units ?? null;
  }

  /**
   * Whether nothing but a top-up brings back the units of the key, so that there is no time to wait
   * for.
   */
  get isGrantedOnce(): boolean {
    return this.#ports.left?.key?.isGrantedOnce ?? false;
  }

  get budgets() {
    return this.#ports.left?.budgets ?? [];
  }

  /** Aborted when the limit of a budget changes: what waits for units then tries again. */
  get changed(): AbortSignal {
    return this.#changed.signal;
  }

  /** Called when a budget, or the units of the key, did not cover a minute of the WebSocket. */
  refused(ms: number, by: 'budget' | 'key'): void {
    this.refusedUntil = this.#ports.clock.now() + ms;
    this.#refusedBy = by;
  }

  step(isStreaming: boolean, minutes: number): unknown {
    const { clock, key } = this.#ports;
    this.#watchLimits();
    const outcome = this.#job?.outcome;
    if (outcome) {
      this.#job = undefined;
      if ('error' in outcome) return outcome.error;
      this.#learn(outcome.value, minutes);
    }
    if (!key || this.#job || clock.mono() < this.#next) return undefined;
    this.#next = clock.mono() + this.#timing.keyMs * (isStreaming ? 1 : 10);
    this.#job = new Job(this.#wake, () => key(this.#signal));
    return undefined;
  }

  get due(): number {
    const { key, limits } = this.#ports;
    // A request in progress wakes the loop when it ends.
    return Math.min(
      key && !this.#job ? this.#next : Number.POSITIVE_INFINITY,
      limits && !this.#limitsJob ? this.#limitsDue : Number.POSITIVE_INFINITY,
    );
  }

  /**
   * Resolves after the first answer of `me`, or when the run is over; throws if the service rejects
   * the key.
   */
  async first(wait: () => Promise<void>, isOver: () => boolean): Promise<void> {
    this.step(true, 0);
    while (this.#job && !this.#signal.aborted && !isOver()) {
      await wait();
      const error = this.#job.outcome ? this.step(true, 0) : undefined;
      // Ignore other failures: if they persist, page requests will report them.
      if (error instanceof Failure && error.kind === 'auth') throw error;
    }
  }

  settled = async (): Promise<void> => {
    await this.#job?.settled;
    await this.#limitsJob?.settled;
  };

  /** Asks what is left as soon as the limit of a budget has changed. */
  #watchLimits(): void {
    const { clock, limits } = this.#ports;
    const outcome = this.#limitsJob?.outcome;
    if (outcome) {
      this.#limitsJob = undefined;
      // If they cannot be read, the known ones stay in force.
      if ('value' in outcome) this.#compare(outcome.value);
    }
    if (!limits || this.#limitsJob || clock.mono() < this.#limitsDue) return;
    this.#limitsDue = clock.mono() + this.#timing.limitsMs;
    this.#limitsJob = new Job(this.#wake, limits);
  }

  #compare(limits: string): void {
    const isChanged = this.#limits !== undefined && this.#limits !== limits;
    this.#limits = limits;
    if (!isChanged) return;
    this.#next = this.#ports.clock.mono();
    if (this.#refusedBy === 'budget') this.refusedUntil = Number.NEGATIVE_INFINITY;
    this.#changed.abort();
    this.#changed = new AbortController();
  }

  #learn(facts: KeyFacts, minutes: number): void {
    const { clock } = this.#ports;
    const last = this.#unitsThen;
    const remaining = this.allowanceLeft;
    this.facts = facts;
    this.#unitsThen = remaining;
    // The clock of the service may be behind: after the end of the month, wait until `remaining`
    // has increased.
    const isReset =
      this.#share !== undefined &&
      clock.now() >= this.#share.resetsAt &&
      remaining !== null &&
      last !== null &&
      remaining > last;
    if (remaining !== null && (!this.#share || isReset))
      this.#share = { of: remaining, minutes, resetsAt: renewalOf('month', clock.now()) };
    // Request `me` again as soon as a budget renews.
    const renewal = Math.min(
      Number.POSITIVE_INFINITY,
      ...this.budgets.map(({ renewsAt }) => renewsAt),
    );
    this.#next = Math.min(this.#next, clock.mono() + Math.max(0, renewal - clock.now()) + 1);
  }

  /**
   * The share starts over when the allowance resets, so that a tail that runs for months streams
   * every month.
   */
  shareLeft(minutes: number): number | null {
    if (!this.#share) return null;
    const used = cu.socketMinute * (minutes - this.#share.minutes);
    return this.#share.of * (this.#options.socketShare ?? 1) - used;
  }
}

/**
 * Undefined unless a budget or the allowance of the key is used up, and will renew: an allowance
 * does with the UTC month, unless it was granted once.
 */
export function waitsForUnits(
  failure: Failure,
  now: number,
  isGrantedOnce: boolean,
): number | undefined {
  if (!isOutOfUnits(failure)) return undefined;
  if (isGrantedOnce && failure.code !== BUDGET) return undefined;
  return failure.code === BUDGET ? 1_000 * (failure.retryAfter ?? 0) : resetsIn(now);
}

export const isOutOfUnits = ({ code, kind }: Failure): boolean =>
  code === BUDGET || kind === 'quota';

export const resetsIn = (now: number): number => renewalOf('month', now) - now;
