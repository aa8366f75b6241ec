import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { Limiter } from '../../src/core/spend/rate-limiter.ts';
import { StoreMemory } from '../../src/store/memory.ts';
import { repeats, SEED, timeoutFor } from '../repeats.ts';
import { rngOf } from '../sim/rng.ts';
import { has } from '../tools.ts';
import { machine } from './machines.ts';
import { startServer } from './server.ts';

/** How long a fleet makes calls; longer in a soak test. */
const SECONDS = repeats('STORE_SECONDS', 4, 90);
const MACHINES = 20;
const LIMIT = Number(process.env['STORE_LIMIT'] ?? 200);
const RESOLVES = 10;
/** The window of the service's rate limit. The machines use a longer one, as in production. */
const WINDOW_MS = 5_000;
const ALLOWED_MS = 8_000;

/** The greatest number of arrivals within any window, by counting back from each arrival. */
function greatest(times: readonly number[]): number {
  let [first, most] = [0, 0];
  for (const [place, at] of times.entries()) {
    while (at - (times[first] ?? at) >= WINDOW_MS) first++;
    most = Math.max(most, place - first + 1);
  }
  return most;
}

describe.skipIf(!has('redis-server'))('a fleet of machines', () => {
  it(
    `stays within ${LIMIT} calls and ${RESOLVES} resolves per window while machines are killed`,
    timeoutFor(SECONDS),
    async () => {
      const random = rngOf(SEED);
      const server = await startServer();
      const arrived = { key: [] as number[], resolve: [] as number[] };
      /** Makes calls as fast as the shared limit allows, until the returned function kills the machine. */
      const start = (name: string) => {
        const memory = new StoreMemory(server.folder, name);
        const { windows, link } = machine(server, { name, windowMs: ALLOWED_MS, memory });
        const limiter = new Limiter(
          windows,
          systemClock,
          async () => LIMIT,
          () => {},
        );
        let isDead = false;
        const call = async () => {
          await limiter.learn(LIMIT);
          for (let made = 0; !isDead; made++) {
            const lane = made % 5 === 4 ? 'resolve' : 'key';
            await limiter.acquire(lane);
            if (isDead) return;
            arrived.key.push(performance.now());
            if (lane === 'resolve') arrived.resolve.push(performance.now());
            await delay(1);
          }
        };
        void call();
        return () => {
          isDead = true;
          link.close();
        };
      };
      const kills = Array.from({ length: MACHINES }, (_, at) => start(`m${at}`));
      const enough = () => arrived.key.length > LIMIT && arrived.resolve.length >= RESOLVES;
      for (
        const end = performance.now() + SECONDS * 1_000;
        performance.now() < end || !enough();
        await delay(500)
      ) {
        const at = random.int(MACHINES);
        kills[at]?.();
        kills[at] = start(`m${at}`);
      }
      for (const kill of kills) kill();
      expect(greatest(arrived.key), `seed ${SEED}`).toBeLessThanOrEqual(LIMIT);
      expect(greatest(arrived.resolve), `seed ${SEED}`).toBeLessThanOrEqual(RESOLVES);
    },
  );
});
