import { Failure } from '../../base/failure.ts';
import { waitsForUnits } from '../../tail/spend/units-left.ts';
import type { Service } from '../run/service.ts';
import type { Terminal } from '../run/terminal.ts';
import { untilText } from './notice-text.ts';

/**
 * The longest and the shortest wait before the next attempt: the user may have topped up the key.
 */
const LOOK_MS = 10 * 60_000;
const LEAST_MS = 1_000;
/** How often the limits of the budgets are read meanwhile: one that is raised ends the wait. */
const LIMITS_MS = 5_000;

/** Waits while a budget or the allowance does not cover a call that the start of a run needs. */
export class UnitsWait {
  /** When the budget or the allowance renews; null if nothing was waited for. */
  until: number | null = null;
  readonly #terminal: Terminal;
  readonly #service: Pick<Service, 'client' | 'ledger'>;
  /** Called when a wait begins. */
  readonly #onWait: () => void;

  constructor(terminal: Terminal, service: Pick<Service, 'client' | 'ledger'>, onWait: () => void) {
    this.#terminal = terminal;
    this.#service = service;
    this.#onWait = onWait;
  }

  get text(): string {
    return `waiting until ${untilText(this.until ?? 0)}`;
  }

  /** Repeats the work until units cover it. Throws a failure that no wait cures. */
  async retry<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const ms = error instanceof Failure ? await this.#renewsIn(error) : undefined;
        if (!(error instanceof Failure) || ms === undefined) throw error;
        await this.#begin(ms, error.message);
      }
    }
  }

  async #begin(ms: number, why: string): Promise<void> {
    const { io, notice } = this.#terminal;
    const isFirst = this.until === null;
    this.until = io.clock.now() + ms;
    this.#onWait();
    if (isFirst) notice(`${this.text}: ${why}`);
    await this.#wait(Math.min(LOOK_MS, Math.max(LEAST_MS, ms)));
  }

  /** How long to wait; undefined if waiting does not help. */
  async #renewsIn(failure: Failure): Promise<number | undefined> {
    const { now } = this.#terminal.io.clock;
    const isDue = waitsForUnits(failure, now(), false) !== undefined;
    const left = isDue ? (await this.#service.client()).left.key : undefined;
    return waitsForUnits(failure, now(), left?.isGrantedOnce ?? false);
  }

  /** Waits, at most until a limit of the budgets has changed. */
  async #wait(ms: number): Promise<void> {
    const { io, signal } = this.#terminal;
    const ledger = await this.#service.ledger();
    const before = await ledger.limits?.();
    const until = io.clock.now() + ms;
    for (let left = ms; left > 0; left = until - io.clock.now()) {
      await io.clock.sleep(Math.min(LIMITS_MS, left), signal);
      if ((await ledger.limits?.()) !== before) return;
    }
  }
}
