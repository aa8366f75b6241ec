import type { Clock } from '../../base/clock.ts';
import type { Link } from '../ports.ts';
import type { Timing } from '../timing.ts';

/** Why a connection no longer works, although it has not ended. */
interface Dead {
  readonly why: 'suspended' | 'silent';
  readonly text: string;
}

/** Finds out whether a connection still works: a broken one may not end for hours. */
export class Heartbeat {
  /** The number of signs of life at the last check, and when one was last found. */
  #signs = 0;
  #heardAt = 0;
  /** The last check, by both clocks. */
  #mono = 0;
  #wall = 0;
  readonly #clock: Clock;
  readonly #timing: Timing;

  constructor(clock: Clock, timing: Timing) {
    this.#clock = clock;
    this.#timing = timing;
  }

  get due(): number {
    return this.#mono + this.#timing.beatMs;
  }

  start(link: Link): void {
    this.#signs = link.signs;
    this.#mono = this.#clock.mono();
    this.#wall = this.#clock.now();
    this.#heardAt = this.#mono;
  }

  /**
   * Checks the connection if a check is due. Returns why the connection no longer works; otherwise
   * undefined.
   */
  dead(link: Link): Dead | undefined {
    const { beatMs, jumpMs, pingMs, silentMs } = this.#timing;
    const now = this.#clock.mono();
    if (now < this.due) return undefined;
    const passed = now - this.#mono;
    // By both clocks: on some systems, the monotonic one stops while the machine is suspended.
    const jumped = Math.max(passed - beatMs, this.#clock.now() - this.#wall - passed);
    this.#mono = now;
    this.#wall = this.#clock.now();
    if (link.signs !== this.#signs) {
      this.#signs = link.signs;
      this.#heardAt = now;
    }
    if (jumped > jumpMs) return SUSPENDED;
    const silence = now - this.#heardAt;
    // If nothing was received for a while, send a ping, which the service must answer.
    if (silence >= pingMs) link.ping?.();
    if (silence < silentMs) return undefined;
    return { why: 'silent', text: `nothing received for ${Math.round(silence / 1_000)} s` };
  }
}

const SUSPENDED: Dead = {
  why: 'suspended',
  text: 'the process or the machine was suspended, or the clock was changed',
};
