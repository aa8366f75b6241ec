import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { RATE_WINDOW_MS } from '../contract/limits.ts';
import type { RateWindows } from '../contract/ports/rate-windows.ts';
import { listReply, number } from './connection.ts';
import { unusable } from './failures.ts';
import type { StoreMember } from './link.ts';
import { laneScripts } from './scripts/lanes.ts';

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
    for (const lane of new Set(departures.map((one) => one.lane))) {
      const calls = departures.filter((one) => one.lane === lane);
      const entries = calls.flatMap(({ id, at }) => [id, Math.max(0, Math.round(mono() - at))]);
      await store.run(
        laneScripts.addUnrecorded,
        [link.keys.lane(lane).calls],
        [windowMs, ...entries],
      );
    }
  });

  function noteDeparture(lane: string, id: string): void {
    const now = mono();
    if (departures.length > 0 && now - (departures[0]?.at ?? now) > 2 * windowMs)
      departures = departures.filter(({ at }) => now - at < windowMs);
    departures.push({ lane, id, at: now });
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
      const { calls, meta } = link.keys.lane(lane);
      const args = [limit, windowMs, id, ticket === undefined ? 0 : 1, machine, GRACE_MS];
      const slot = await either(
        async () => {
          const [wait, known = 0, fleet = 1, queued] = listReply(
            await link.run(laneScripts.take, [calls, meta, link.keys.fleet], args),
          ).map(number);
          memory.update({ fleet: Math.max(1, Math.floor(fleet)) });
          const waitMs = Math.max(0, Math.ceil(wait ?? 0));
          return {
            waitMs,
            known: known >= 1 ? known : null,
            ...(queued === 1 && { queued: true }),
          };
        },
        () => local.take(lane, Math.max(1, Math.floor(limit / memory.read().fleet))),
      );
      if (slot.waitMs <= 0) noteDeparture(lane, id);
      return slot;
    },
    async drop(lane, ticket) {
      const { calls } = link.keys.lane(lane);
      await either(() => link.run(laneScripts.drop, [calls], [idOf(ticket)]), alone).catch(
        () => {},
      );
    },
    async depart(lane, ticket, lateMs) {
      const id = idOf(ticket);
      departures = departures.map((one) => (one.id === id ? { ...one, at: mono() } : one));
      const { calls, meta } = link.keys.lane(lane);
      return await either(
        async () => (await link.run(laneScripts.departLate, [calls, meta], [id, windowMs])) === 1,
        () => local.depart(lane, ticket, lateMs),
      );
    },
    async block(lane, ms) {
      // Also block the local lanes, which are used while the store is unavailable.
      await local.block(lane, ms);
      const { calls, meta } = link.keys.lane(lane);
      await either(() => link.run(laneScripts.block, [calls, meta], [ms, windowMs]), alone);
    },
    async learn(lane, limit) {
      if (!Number.isSafeInteger(limit) || limit < 1) return;
      await local.learn(lane, limit);
      await either(
        () => link.run(laneScripts.learn, [link.keys.lane(lane).meta], [limit, windowMs]),
        alone,
      );
    },
  };
}
