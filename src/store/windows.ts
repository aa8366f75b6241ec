import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { RATE_WINDOW_MS } from '../contract/limits.ts';
import type { RateWindows, WindowSlot } from '../contract/ports/rate-windows.ts';
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
 * While the store is unavailable, each machine uses `local`, divided by the number of machines that
 * were active last.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: both ways share the number of machines.
export function createStoreWindows(
  { link, machine, memory }: StoreMember,
  local: RateWindows,
  { mono }: Pick<Clock, 'mono'>,
  notice: (text: string) => void,
  windowMs = RATE_WINDOW_MS,
): RateWindows {
  const process = randomUUID();
  let singles = 0;
  let departures: Departure[] = [];
  let away = false;
  const idOf = (ticket: number | undefined) => `${process}:${ticket ?? `s${++singles}`}`;

  link.onConnect(async (store) => {
    departures = departures.filter(({ at }) => mono() - at < windowMs);
    for (const lane of new Set(departures.map((departure) => departure.lane))) {
      const own = departures.filter((departure) => departure.lane === lane);
      const entries = own.flatMap(({ id, at }) => [id, Math.max(0, Math.round(mono() - at))]);
      const { calls } = link.keys.lane(lane);
      await store.run(...laneScripts.addUnrecorded.with({ calls }, { windowMs }, entries));
    }
  });

  function noteDeparture(lane: string, id: string): void {
    const now = mono();
    if (departures.length > 0 && now - (departures[0]?.at ?? now) > 2 * windowMs)
      departures = departures.filter(({ at }) => now - at < windowMs);
    departures.push({ lane, id, at: now });
  }

  async function takeSlot(
    lane: string,
    limit: number,
    ticket: string,
    books: boolean,
  ): Promise<WindowSlot> {
    const { fleet } = link.keys;
    const args = { assumed: limit, windowMs, ticket, books: books ? 1 : 0, machine };
    const take = laneScripts.take.with(
      { ...link.keys.lane(lane), fleet },
      { ...args, graceMs: GRACE_MS },
    );
    const slot = readSlot(await link.run(...take));
    memory.update({ fleet: slot.fleet });
    const { waitMs, known } = slot;
    return { waitMs, known, ...(slot.isQueued && { queued: true }) };
  }

  /** Asks the store, or does without it. Throws errors that the user must fix in the settings. */
  async function either<T>(there: () => Promise<T>, here: () => Promise<T>): Promise<T> {
    try {
      const result = await there();
      if (away) notice('the store is available again; all machines share the rate limit');
      away = false;
      return result;
    } catch (error) {
      if (!unusable(error)) throw error;
      const { fleet } = memory.read();
      const share = fleet > 1 ? `1/${fleet} of the rate limit` : 'the whole rate limit';
      if (!away)
        notice(
          `${error.message}; until the store is available again, this machine uses ${share}, and only its own cache and ledger`,
        );
      away = true;
      return here();
    }
  }
  const alone = async () => undefined;

  return {
    async take(lane, limit, ticket) {
      const id = idOf(ticket);
      const slot = await either(
        () => takeSlot(lane, limit, id, ticket !== undefined),
        () => local.take(lane, Math.max(1, Math.floor(limit / memory.read().fleet))),
      );
      if (slot.waitMs <= 0) noteDeparture(lane, id);
      return slot;
    },
    async drop(lane, ticket) {
      const { calls } = link.keys.lane(lane);
      await either(
        () => link.run(...laneScripts.drop.with({ calls }, { ticket: idOf(ticket) })),
        alone,
      ).catch(() => {});
    },
    async depart(lane, ticket, lateMs) {
      const id = idOf(ticket);
      departures = departures.map((departure) =>
        departure.id === id ? { ...departure, at: mono() } : departure,
      );
      const depart = laneScripts.departLate.with(link.keys.lane(lane), { ticket: id, windowMs });
      return await either(
        async () => (await link.run(...depart)) === 1,
        () => local.depart(lane, ticket, lateMs),
      );
    },
    async block(lane, ms) {
      // Also block the local lanes, which are used while the store is unavailable.
      await local.block(lane, ms);
      const block = laneScripts.block.with(link.keys.lane(lane), { ms, windowMs });
      await either(() => link.run(...block), alone);
    },
    async learn(lane, limit) {
      if (!Number.isSafeInteger(limit) || limit < 1) return;
      await local.learn(lane, limit);
      const { meta } = link.keys.lane(lane);
      const learned = laneScripts.learn.with({ meta }, { limit, windowMs });
      await either(() => link.run(...learned), alone);
    },
  };
}
