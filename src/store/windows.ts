import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { Failure } from '../base/failure.ts';
import { RATE_WINDOW_MS } from '../contract/limits.ts';
import type { RateWindows, WindowSlot } from '../contract/ports/rate-windows.ts';
import type { StoreConnection } from './connection.ts';
import { unusable } from './failures.ts';
import type { StoreMember } from './link.ts';
import { laneScripts, readSlot } from './scripts/lanes.ts';

/**
 * How late a call with a reserved departure may leave; less than the second by which RATE_WINDOW_MS
 * exceeds a minute.
 */
const GRACE_MS = 250;

interface Departure {
  readonly lane: string;
  readonly id: string;
  readonly at: number;
}

/**
 * The rate limit that all machines share. While the store is unavailable, each machine uses its
 * `local` windows, divided by the number of machines that were active last.
 */
export class StoreWindows implements RateWindows {
  readonly #member: StoreMember;
  readonly #local: RateWindows;
  readonly #notice: (text: string) => void;
  readonly #windowMs: number;
  readonly #departures: Departures;
  /** Tickets are unique in a process only. */
  readonly #process = randomUUID();
  #singles = 0;
  #isAway = false;

  constructor(
    member: StoreMember,
    local: RateWindows,
    clock: Pick<Clock, 'mono'>,
    notice: (text: string) => void,
    windowMs = RATE_WINDOW_MS,
  ) {
    this.#member = member;
    this.#local = local;
    this.#notice = notice;
    this.#windowMs = windowMs;
    this.#departures = new Departures(clock, windowMs);
    member.link.onConnect((store) => this.#addDepartures(store));
  }

  async take(lane: string, limit: number, ticket?: number): Promise<WindowSlot> {
    const id = this.#idOf(ticket);
    const slot = await this.#either(
      () => this.#takeShared(lane, limit, id, ticket !== undefined),
      () => {
        const { fleet } = this.#member.memory.read();
        return this.#local.take(lane, Math.max(1, Math.floor(limit / fleet)));
      },
    );
    if (slot.waitMs <= 0) this.#departures.add(lane, id);
    return slot;
  }

  async drop(lane: string, ticket: number): Promise<void> {
    const { link } = this.#member;
    const { calls } = link.keys.lane(lane);
    const drop = laneScripts.drop.with({ calls }, { ticket: this.#idOf(ticket) });
    // A ticket that stays only delays other calls, until its window has passed.
    await this.#either(() => link.run(...drop), nothing).catch(() => {});
  }

  async depart(lane: string, ticket: number, lateMs: number): Promise<boolean> {
    const { link } = this.#member;
    const id = this.#idOf(ticket);
    this.#departures.move(id);
    const windowMs = this.#windowMs;
    const depart = laneScripts.departLate.with(link.keys.lane(lane), { ticket: id, windowMs });
    return await this.#either(
      async () => (await link.run(...depart)) === 1,
      () => this.#local.depart(lane, ticket, lateMs),
    );
  }

  async block(lane: string, ms: number): Promise<void> {
    // Also block the local lanes, which are used while the store is unavailable.
    await this.#local.block(lane, ms);
    const { link } = this.#member;
    const block = laneScripts.block.with(link.keys.lane(lane), { ms, windowMs: this.#windowMs });
    await this.#either(() => link.run(...block), nothing);
  }

  async learn(lane: string, limit: number): Promise<void> {
    if (!Number.isSafeInteger(limit) || limit < 1) return;
    await this.#local.learn(lane, limit);
    const { link } = this.#member;
    const { meta } = link.keys.lane(lane);
    const learned = laneScripts.learn.with({ meta }, { limit, windowMs: this.#windowMs });
    await this.#either(() => link.run(...learned), nothing);
  }

  async #takeShared(
    lane: string,
    limit: number,
    ticket: string,
    books: boolean,
  ): Promise<WindowSlot> {
    const { link, machine, memory } = this.#member;
    const take = laneScripts.take.with(
      { ...link.keys.lane(lane), fleet: link.keys.fleet },
      {
        assumed: limit,
        windowMs: this.#windowMs,
        ticket,
        books: books ? 1 : 0,
        machine,
        graceMs: GRACE_MS,
      },
    );
    const slot = readSlot(await link.run(...take));
    memory.update({ fleet: slot.fleet });
    const { waitMs, statedLimit } = slot;
    return { waitMs, statedLimit, ...(slot.isQueued && { queued: true }) };
  }

  /** A new connection may reach a store that has not seen the last calls of this machine. */
  async #addDepartures(store: StoreConnection): Promise<void> {
    const windowMs = this.#windowMs;
    for (const lane of this.#departures.lanes()) {
      const entries = this.#departures.entriesOf(lane);
      const { calls } = this.#member.link.keys.lane(lane);
      await store.run(...laneScripts.addUnrecorded.with({ calls }, { windowMs }, entries));
    }
  }

  /** Asks the store, or does without it. Throws errors that the user must fix in the settings. */
  async #either<T>(there: () => Promise<T>, here: () => Promise<T>): Promise<T> {
    try {
      const result = await there();
      if (this.#isAway)
        this.#notice('the store is available again; all machines share the rate limit');
      this.#isAway = false;
      return result;
    } catch (error) {
      if (!unusable(error)) throw error;
      if (!this.#isAway) this.#notice(awayText(error, this.#member.memory.read().fleet));
      this.#isAway = true;
      return here();
    }
  }

  #idOf(ticket: number | undefined): string {
    return `${this.#process}:${ticket ?? `s${++this.#singles}`}`;
  }
}

/** The calls of this process within the last window, in the order in which they left. */
class Departures {
  readonly #clock: Pick<Clock, 'mono'>;
  readonly #windowMs: number;
  #calls: Departure[] = [];

  constructor(clock: Pick<Clock, 'mono'>, windowMs: number) {
    this.#clock = clock;
    this.#windowMs = windowMs;
  }

  add(lane: string, id: string): void {
    const now = this.#clock.mono();
    const [oldest] = this.#calls;
    // Forget old calls only once in a window, because each time copies the list.
    if (oldest !== undefined && now - oldest.at > 2 * this.#windowMs) this.#forget(now);
    this.#calls.push({ lane, id, at: now });
  }

  /** The call leaves now, later than it was added. */
  move(id: string): void {
    this.#calls = this.#calls.map((call) =>
      call.id === id ? { ...call, at: this.#clock.mono() } : call,
    );
  }

  /** The lanes of the calls that still count. */
  lanes(): ReadonlySet<string> {
    this.#forget(this.#clock.mono());
    return new Set(this.#calls.map(({ lane }) => lane));
  }

  /** The id and the age of each call of a lane, one after the other, as the script wants them. */
  entriesOf(lane: string): (string | number)[] {
    const now = this.#clock.mono();
    return this.#calls
      .filter((call) => call.lane === lane)
      .flatMap(({ id, at }) => [id, Math.max(0, Math.round(now - at))]);
  }

  #forget(now: number): void {
    this.#calls = this.#calls.filter(({ at }) => now - at < this.#windowMs);
  }
}

const nothing = async () => undefined;

function awayText({ message }: Failure, fleet: number): string {
  const share = fleet > 1 ? `1/${fleet} of the rate limit` : 'the whole rate limit';
  return `${message}; until the store is available again, this machine uses ${share}, and only its own cache and ledger`;
}
