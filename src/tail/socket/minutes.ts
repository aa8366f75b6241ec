import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { cu, SOCKET_PING_SECONDS } from '../../contract/limits.ts';
import type { Slot } from '../../contract/ports/ledger.ts';
import type { Connect, Link, LinkEnd } from '../ports.ts';

const MINUTE = 60_000;
/** The clocks of the service and of this machine may differ by this much. */
const SLACK_MS = 1_000;
/**
 * The service notices after at most two pings that the client no longer answers, and charges until
 * then.
 */
const PING_MS = SOCKET_PING_SECONDS * 1_000;
const LINGER_MS = 2 * PING_MS;

/**
 * The minutes of one connection. Each is paid for before it begins, and one more in reserve: if the
 * client is killed, the service needs that long to notice. A minute was certainly charged if
 * something was received in it, because the service charges started minutes.
 */
class Minutes {
  readonly #slots: Slot[] = [];
  #settled = 0;
  #link: Link | undefined;
  /** The signs of life so far, and when the last one was received. */
  #signs = 0;
  #heardAt = 0;
  #openedAt = 0;
  /** The last look at both clocks, and how far the one of the machine had got ahead since. */
  #looked: { readonly mono: number; readonly wall: number };
  #ahead = 0;
  /**
   * Whether the clock of this machine has jumped so far that the service has closed the connection,
   * unless the clock was set.
   */
  #hasJumped = false;
  /**
   * How long before `opened` the handshake was sent: the service may have opened the connection as
   * early as that.
   */
  #dialMs = 0;
  /** When this side began to close the connection. */
  #closedAt: number | undefined;
  #isOver = false;
  readonly #clock: Clock;
  readonly #reserve: (signal: AbortSignal) => Promise<Slot>;

  constructor(clock: Clock, reserve: (signal: AbortSignal) => Promise<Slot>) {
    this.#clock = clock;
    this.#reserve = reserve;
    this.#looked = { mono: clock.mono(), wall: clock.now() };
  }

  async begin(signal: AbortSignal): Promise<void> {
    await this.#cover(LINGER_MS, signal);
    this.#start();
  }

  opened(link: Link): void {
    this.#dialMs = this.#look();
    this.#start();
    this.#link = link;
    this.alive();
  }

  /** Called after each event of the connection; only some are signs of life. */
  alive(): void {
    const signs = this.#link?.signs ?? 0;
    if (signs === this.#signs) return;
    this.#signs = signs;
    this.#look();
    const at = this.#elapsed;
    // What arrives after a longer silence was buffered on the way.
    if (at - this.#heardAt <= LINGER_MS + SLACK_MS) this.#heardAt = at;
    this.#settle(this.#heardAt - SLACK_MS);
  }

  /**
   * Pays for each further minute in time, until the signal is aborted. Rejects if a minute cannot
   * be paid for.
   */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const due = this.#slots.length * MINUTE - SLACK_MS - LINGER_MS;
      // Timers do not count the time for which the machine was suspended.
      const ms = Math.min(PING_MS, Math.max(0, Math.ceil(due - this.#look())));
      await this.#clock.sleep(ms, signal).catch(() => {});
      if (signal.aborted) return;
      await this.#cover(this.#look() + LINGER_MS, signal);
    }
  }

  /** Called when this side begins to close the connection. */
  closing(): void {
    this.#closedAt ??= this.#elapsed;
  }

  /**
   * Called when the connection has ended. `isKnown` means that the service has certainly stopped
   * charging.
   */
  end(isKnown: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const lasted = this.#look();
    const isHeard = this.#elapsed - this.#heardAt <= LINGER_MS;
    // A close that the service confirms was between its beginning and its end for the service too,
    // so no clocks need to be compared.
    const closedAt = isKnown && isHeard ? this.#closedAt : undefined;
    if (closedAt !== undefined) this.#settle(closedAt);
    const most =
      closedAt === undefined
        ? startedBy(this.#chargedTo(lasted, isKnown))
        : Math.floor((this.#dialMs + lasted) / MINUTE) + 1;
    for (const [at, slot] of this.#slots.entries()) {
      if (at >= most) slot.release();
      else if (at >= this.#settled) slot.lose({ status: 101 });
    }
  }

  /** Called when no connection was opened, so that no minute has begun. */
  refused(): void {
    this.#isOver = true;
    for (const slot of this.#slots) slot.release();
  }

  /** Up to when the service has charged at most for a connection whose close it did not confirm. */
  #chargedTo(lasted: number, isKnown: boolean): number {
    const isStale = this.#hasJumped || this.#elapsed - this.#heardAt > LINGER_MS + SLACK_MS;
    if (isKnown && !isStale) return lasted;
    // The connection may have broken any time before the next ping of the service was due.
    return Math.min(lasted, this.#heardAt + PING_MS) + LINGER_MS;
  }

  #start(): void {
    this.#looked = { mono: this.#clock.mono(), wall: this.#clock.now() };
    this.#openedAt = this.#looked.mono;
    this.#ahead = 0;
  }

  /** How long the connection has lasted at least. */
  get #elapsed(): number {
    return this.#clock.mono() - this.#openedAt;
  }

  /**
   * How long the connection has lasted at most. The monotonic clock may stop while the machine is
   * suspended, which the service bears until its second ping.
   */
  #look(): number {
    const [mono, wall] = [this.#clock.mono(), this.#clock.now()];
    const ahead = wall - this.#looked.wall - (mono - this.#looked.mono);
    this.#looked = { mono, wall };
    if (ahead > LINGER_MS) this.#hasJumped = true;
    else if (ahead > 0) this.#ahead += ahead;
    return this.#elapsed + this.#ahead;
  }

  async #cover(ms: number, signal: AbortSignal): Promise<void> {
    while (this.#slots.length < startedBy(ms)) {
      const slot = await this.#reserve(signal);
      if (this.#isOver) slot.release();
      this.#slots.push(slot);
    }
  }

  /** The minutes that had begun by then are certain. */
  #settle(by: number): void {
    const begun = Math.floor(Math.max(0, by) / MINUTE) + 1;
    const certain = Math.min(this.#slots.length, begun);
    while (this.#settled < certain)
      this.#slots[this.#settled++]?.settle({ status: 101, cu: cu.socketMinute });
  }
}

const startedBy = (ms: number) => Math.floor((ms + SLACK_MS) / MINUTE) + 1;

/** A `Connect` that pays for each minute of its connections. `reserve` pays for one minute. */
export function withMinutes(
  connect: Connect,
  clock: Clock,
  reserve: (signal: AbortSignal) => Promise<Slot>,
): Connect {
  return async (onChange, signal) => {
    const minutes = new Minutes(clock, reserve);
    let paid: PaidLink | undefined;
    const changed = () => {
      minutes.alive();
      paid?.noteEnd();
      onChange();
    };
    let link: Link;
    try {
      await minutes.begin(signal);
      link = await connect(changed, signal);
    } catch (error) {
      // With BROKEN, the handshake was sent, so the service may have opened a connection and charge
      // for it.
      if (error instanceof Failure && error.code === 'BROKEN') minutes.end(false);
      else minutes.refused();
      throw error;
    }
    minutes.opened(link);
    paid = new PaidLink(link, minutes, onChange, signal);
    // It may have ended while it was opened.
    paid.noteEnd();
    return paid;
  };
}

/**
 * A link that ends when its next minute cannot be paid for, and that tells when the service has
 * stopped charging.
 */
class PaidLink implements Link {
  readonly #link: Link;
  readonly #minutes: Minutes;
  readonly #over = new AbortController();
  /** Whether this side has begun to close the connection. */
  #isClosing = false;
  /** Set when a minute could not be paid for. */
  #unpaid: LinkEnd | undefined;

  constructor(link: Link, minutes: Minutes, onChange: () => void, signal: AbortSignal) {
    this.#link = link;
    this.#minutes = minutes;
    const over = this.#over.signal;
    minutes.run(AbortSignal.any([signal, over])).catch((error: unknown) => {
      if (over.aborted || signal.aborted) return;
      this.#unpaid = endUnpaid(error);
      onChange();
    });
  }

  get held(): number {
    return this.#link.held;
  }

  get signs(): number {
    return this.#link.signs;
  }

  get end(): LinkEnd | undefined {
    return this.#link.end ?? this.#unpaid;
  }

  /** Settles the minutes if the link has ended. Called after each of its events. */
  noteEnd(): void {
    const { end } = this.#link;
    if (!end) return;
    this.#over.abort();
    // After an end by this side, only the answer to it shows whether the service has noticed.
    if (!this.#isClosing) this.#minutes.end(end.unconfirmed !== true);
  }

  next(): Uint8Array | undefined {
    return this.#link.next();
  }

  send(text: string): void {
    this.#link.send(text);
  }

  ping(): void {
    this.#link.ping?.();
  }

  close(): Promise<boolean> | undefined {
    this.#over.abort();
    if (this.#link.end === undefined) {
      this.#minutes.closing();
      this.#isClosing = true;
    }
    const answered = this.#link.close();
    if (answered === undefined) this.#minutes.end(false);
    return answered?.then((isKnown) => {
      this.#minutes.end(isKnown);
      return isKnown;
    });
  }
}

function endUnpaid(error: unknown): LinkEnd {
  const text = error instanceof Error ? error.message : 'cannot pay for the next minute';
  return { why: 'closed', text, failure: error instanceof Failure ? error : undefined };
}
