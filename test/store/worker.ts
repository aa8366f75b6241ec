import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { createLimiter } from '../../src/core/spend/rate-limiter.ts';
import { openWindows } from '../../src/state/rate-windows.ts';
import { readStoreUrl } from '../../src/store/address.ts';
import { keysOf } from '../../src/store/keys.ts';
import { createLink } from '../../src/store/link.ts';
import { createStoreWindows } from '../../src/store/windows.ts';
import { savedMemory } from './machines.ts';

/** Sends calls to a service as fast as the shared limit allows, until it is killed. */
const [store = '', service = '', name = '', windowMs = '', limit = '', folder = ''] = process.argv.slice(2);
const scope = { baseUrl: service, key: 'k' };
const link = createLink(readStoreUrl(store), {}, keysOf(scope), systemClock, Math.random);
const windows = createStoreWindows(
  { link, machine: name, memory: savedMemory(folder, name) },
  openWindows(undefined, scope.baseUrl, scope.key, systemClock),
  systemClock,
  () => {},
  Number(windowMs),
);
const limiter = createLimiter(windows, systemClock, async () => Number(limit));
await limiter.learn(Number(limit));
for (let call = 0; ; call++) {
  const lane = call % 5 === 4 ? 'resolve' : 'key';
  await limiter.acquire(lane);
  await fetch(`${service}/${lane}`).catch(() => delay(50));
}
