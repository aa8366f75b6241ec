// Measures how long a new leader takes to read the end of a stream with many entries. Run it like test/bench/store.ts.

import { systemClock } from '../../src/base/clock.ts';
import { readStoreUrl } from '../../src/store/address.ts';
import { connectStore } from '../../src/store/connection.ts';
import { openTerm } from '../../src/store/feed/term.ts';
import { keysOf } from '../../src/store/keys.ts';
import { script } from '../../src/store/script.ts';
import { createStoreServer } from '../store/server.ts';
import { durations, median, print } from './measure.ts';

const ROUNDS = 15;
const FILLED = 5_000;
const fill = script(
  'fill',
  `
for at = ARGV[1], ARGV[1] + ARGV[2] - 1 do
  redis.call('XADD', KEYS[1], '*', 'id', 'post' .. at, 'at', now, 'body', ARGV[3])
end`,
);

const server = await createStoreServer();
const store = await connectStore(readStoreUrl(server.url), { commandMs: 60_000 });
const feed = keysOf({ baseUrl: 'https://api.example.test', key: 'k' }).feed('thesis');
const body = JSON.stringify({ text: 'x'.repeat(1_000) });

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

/** Measures a takeover of a feed without a position, whose entries are read. Compares it with a stream of one entry. */
async function measure(entries: number): Promise<void> {
  await store.send('DEL', [feed.stream]);
  for (let at = 0; at < entries; at += FILLED)
    await store.run(fill, [feed.stream], [at, Math.min(FILLED, entries - at), body]);
  const all: number[] = [];
  for (let round = 0; round < ROUNDS; round++) all.push(await takeOver());
  const p50 = median(all);
  base ??= p50;
  print(`${entries} entries: ${durations(all, 0.5, 0.95)}, ${(p50 / base).toFixed(0)} times one entry`);
}

let base: number | undefined;
try {
  await measure(1);
  await measure(1_000);
  await measure(20_000);
  await measure(1_000_000);
} finally {
  store.close();
  await server.remove();
}
