import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { RATE_WINDOW_MS } from '../contract/limits.ts';
import type { RateWindows, Ticket, WindowSlot } from '../contract/ports.ts';
import { unusable } from './failures.ts';
import type { StoreLink } from './link.ts';
import type { StoreMemory } from './memory.ts';
import { addUnrecorded, block, departLate, drop, learn, take } from './scripts/lanes.ts';

/**
 * How late a call with a reserved departure may leave. The value must be less than the second by which
 * `RATE_WINDOW_MS` exceeds a minute.
 */
const GRACE_MS = 250;

interface StoreWindowsOptions {
  readonly link: StoreLink;
  /** The rate limits of this machine alone, for times when the store is unavailable. */
  readonly local: RateWindows;
  readonly machine: string;
  readonly clock: Pick<Clock, 'mono'>;
  readonly memory: StoreMemory;
  /** Called when the store becomes unavailable, and when it is available again. */
  readonly notice: (text: string) => void;
  /** Length of the rate window, for tests. */
  readonly windowMs?: number | undefined;
}

interface Departure {
  readonly lane: string;
  readonly id: string;
  readonly at: number;
}

/**
 * Rate limits that all machines share. While the store is unavailable, each machine uses its share: the limit
 * divided by the number of machines that were active when it last reached the store. The calls that it sends in that
 * time are added to the lanes in the store when the store is available again.
 */
export function createStoreWindows(options: StoreWindowsOptions): RateWindows {
  const { link, local, machine, clock, memory, notice, windowMs = RATE_WINDOW_MS } = options;
  const process = randomUUID();
  let singles = 0;
  let departures: Departure[] = [];
  let away = false;
  const idOf = (ticket: Ticket | undefined) => `${process}:${ticket ?? `s${++singles}`}`;

  link.onConnect(async (store) => {
    const young = departures.filter(({ at }) => clock.mono() - at < windowMs);
    departures = young;
    for (const lane of new Set(young.map((one) => one.lane))) {
      const calls = young.filter((one) => one.lane === lane);
      const entries = calls.flatMap(({ id, at }) => [id, Math.max(0, Math.round(clock.mono() - at))]);
      await store.run(addUnrecorded, [link.keys.lane(lane).calls], [windowMs, ...entries]);
    }
  });

  function depart(lane: string, id: string): void {
    const now = clock.mono();
    if (departures.length > 0 && now - (departures[0]?.at ?? now) > 2 * windowMs) {
      departures = departures.filter(({ at }) => now - at < windowMs);
    }
    departures.push({ lane, id, at: now });
  }

  /**
   * Runs the first function with the store, or the second function if the store is unavailable. Throws errors
   * that the user must fix in the settings.
   */
  async function either<T>(there: () => Promise<T>, here: () => Promise<T>): Promise<T> {
    try {
      const result = await there();
      if (away) notice('the store is available again; all machines share the rate limit');
      away = false;
      return result;
    } catch (error) {
      if (!unusable(error)) throw error;
      if (!away) notice(awayText(error));
      away = true;
      return here();
    }
  }

  const awayText = (error: unknown) => {
    const why = error instanceof Error ? error.message : 'the store cannot be used';
    const fleet = memory.read().fleet;
    const share = fleet > 1 ? `1/${fleet} of the rate limit` : 'the whole rate limit';
    return `${why}; until the store is available again, this machine uses ${share}, and only its own cache and ledger`;
  };

  return {
    take: (lane, limit, ticket) => {
      const id = idOf(ticket);
      return either(
        async () => {
          const { calls, meta } = link.keys.lane(lane);
          const args = [limit, windowMs, id, ticket === undefined ? 0 : 1, machine, GRACE_MS];
          const answer = await link.use((store) => store.run(take, [calls, meta, link.keys.fleet], args));
          const { slot, fleet } = readSlot(answer);
          memory.update({ fleet });
          if (slot.waitMs <= 0) depart(lane, id);
          return slot;
        },
        async () => {
          const share = Math.max(1, Math.floor(limit / Math.max(1, memory.read().fleet)));
          const slot = await local.take(lane, share);
          if (slot.waitMs <= 0) depart(lane, id);
          return slot;
        },
      );
    },
    drop: (lane, ticket) =>
      either(
        async () =>
          void (await link.use((store) => store.run(drop, [link.keys.lane(lane).calls], [idOf(ticket)]))),
        async () => {},
      ).catch(() => {}),
    depart: async (lane, ticket, lateMs) => {
      const id = idOf(ticket);
      departures = departures.map((one) => (one.id === id ? { ...one, at: clock.mono() } : one));
      const { calls, meta } = link.keys.lane(lane);
      return await either(
        async () => (await link.use((store) => store.run(departLate, [calls, meta], [id, windowMs]))) === 1,
        async () => local.depart(lane, ticket, lateMs),
      );
    },
    block: async (lane, ms) => {
      // Also block the local lanes, which are used while the store is unavailable.
      await local.block(lane, ms);
      const { calls, meta } = link.keys.lane(lane);
      await either(
        async () => void (await link.use((store) => store.run(block, [calls, meta], [ms, windowMs]))),
        async () => {},
      );
    },
    learn: async (lane, limit) => {
      if (!Number.isSafeInteger(limit) || limit < 1) return;
      await local.learn(lane, limit);
      await either(
        async () =>
          void (await link.use((store) => store.run(learn, [link.keys.lane(lane).meta], [limit, windowMs]))),
        async () => {},
      );
    },
  };
}

/** Parses the reply of `take`. The store is untrusted, so invalid numbers are replaced. */
function readSlot(answer: unknown): { readonly slot: WindowSlot; readonly fleet: number } {
  const [wait = 0, known = 0, fleet = 1, queued = 0] = Array.isArray(answer) ? answer.map(Number) : [];
  const waitMs = Number.isFinite(wait) ? Math.max(0, Math.ceil(wait)) : 0;
  return {
    slot: { waitMs, known: known >= 1 ? known : null, ...(queued === 1 && { queued: true }) },
    fleet: Number.isSafeInteger(fleet) && fleet >= 1 ? fleet : 1,
  };
}
