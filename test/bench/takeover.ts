// Measures how long a new leader takes to read and check the ids of a feed with many entries. Run it like test/bench/store.ts.

import { systemClock } from '../../src/base/clock.ts';
import { readStoreUrl } from '../../src/store/address.ts';
import { connectStore } from '../../src/store/connection.ts';
import { openTerm } from '../../src/store/feed/term.ts';
import { keysOf } from '../../src/store/keys.ts';
import { script } from '../../src/store/script.ts';
import { createStoreServer } from '../store/server.ts';

const ROUNDS = 15;
const FILLED = 5_000;
const fill = script(
  'fill',
  `
for at = ARGV[1], ARGV[1] + ARGV[2] - 1 do
  redis.call('XADD', KEYS[1], '*', 'id', 'post' .. at, 'at', now, 'body', ARGV[4])
  if at > tonumber(ARGV[3]) then redis.call('ZADD', KEYS[2], now, 'post' .. at) end
end`,
);

const server = await createStoreServer();
const store = await connectStore(readStoreUrl(server.url), { commandMs: 60_000 });
const feed = keysOf({ baseUrl: 'https://api.example.test', key: 'k' }).feed('thesis');
const body = JSON.stringify({ text: 'x'.repeat(1_000) });
const median = (all: number[]) => all.sort((one, other) => one - other)[Math.floor(all.length / 2)] ?? 0;

async function takeOver(): Promise<number> {
  const own = await connectStore(readStoreUrl(server.url));
  const from = performance.now();
  const term = await openTerm({
    ...{ store: own, feed, clock: systemClock, keepMs: 3_600_000, keepRows: 10_000_000 },
    describe: () => ({}),
  });
  if ('leftMs' in term) throw new Error('another process leads the feed');
  const took = performance.now() - from;
  await term.resign();
  own.close();
  return took;
}

/**
 * Measures a takeover of a feed of which the store has only the last `known` ids. Compares the time with that for a
 * stream of one entry.
 */
async function measure(entries: number, known: number): Promise<void> {
  await store.send('DEL', [feed.stream, feed.seen]);
  for (let at = 0; at < entries; at += FILLED) {
    const count = Math.min(FILLED, entries - at);
    await store.run(fill, [feed.stream, feed.seen], [at, count, entries - known - 1, body]);
  }
  // Ids older than the floor count as removed on purpose.
  await store.send('HSET', [feed.info, 'floor', entries === known ? 0 : Date.now() + 60_000]);
  // The first leader after a start of the server checks the newest entries; later leaders skip this check.
  const [first, later]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    await store.send('HDEL', [feed.info, 'checked']);
    first.push(await takeOver());
    later.push(await takeOver());
  }
  base ??= median(later);
  const text = (all: number[]) =>
    `p50 ${median(all).toFixed(1)} ms, p95 ${(all.at(-1) ?? 0).toFixed(1)} ms, ${(median(all) / (base ?? 1)).toFixed(0)} times one entry`;
  process.stdout.write(
    `${entries} entries, ${known} ids: after a start of the server ${text(first)}; otherwise ${text(later)}\n`,
  );
}

let base: number | undefined;
try {
  await measure(1, 1);
  await measure(10_000, 1_000);
  await measure(10_000, 10_000);
  await measure(1_000_000, 1_000);
  await measure(1_000_000, 100_000);
} finally {
  store.close();
  await server.remove();
}
