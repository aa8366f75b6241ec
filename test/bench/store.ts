// Measures the shared store with a real server. Build first, then: npx esbuild test/bench/store.ts --bundle
// --platform=node --format=esm --packages=external --outfile=node_modules/.bench-store.mjs && node node_modules/.bench-store.mjs

import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { periodsAt } from '../../src/base/periods.ts';
import { readStoreUrl } from '../../src/store/address.ts';
import { connectStore } from '../../src/store/connection.ts';
import { createFollower } from '../../src/store/feed/follower.ts';
import { openTerm } from '../../src/store/feed/term.ts';
import { keysOf } from '../../src/store/keys.ts';
import { take } from '../../src/store/scripts/lanes.ts';
import { begin, settle } from '../../src/store/scripts/spending.ts';
import { createStoreServer } from '../store/server.ts';
import { durations, print } from './measure.ts';

const server = await createStoreServer();
const address = readStoreUrl(server.url);
const store = await connectStore(address);
const keys = keysOf({ baseUrl: 'https://api.example.test', key: 'k' });

async function times(name: string, rounds: number, work: (round: number) => Promise<unknown>): Promise<void> {
  const all: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const from = performance.now();
    await work(round);
    all.push(performance.now() - from);
  }
  print(`${name}: ${durations(all, 0.5, 0.99)}`);
}

const { calls, meta } = keys.lane('key');
await times('take', 5_000, (round) =>
  store.run(take, [calls, meta, keys.fleet], [600_000, 61_000, `t${round}`, 1, 'a', 250]),
);
const { month, day } = periodsAt(Date.now());
const sums = [keys.open, keys.calls, keys.done, keys.sum(month), keys.sum(day), keys.caps, keys.ledger];
await times('begin', 5_000, (round) =>
  store.run(begin, sums, [month, day, `b${round}`, 100, 1, 'a', 'whois', 'user.handle', 'boot']),
);
await times('settle', 5_000, (round) =>
  store.run(settle, sums, [month, day, `s${round}`, 'paid', 100, 100, 'a', 'whois', 'user.handle', 200, 'r']),
);
await times('connect', 50, async () => (await connectStore(address)).close());

const feed = keys.feed('thesis');
const term = await openTerm({
  ...{ store, feed, clock: systemClock, keepMs: 3_600_000, keepRows: 1_000_000 },
  describe: () => ({}),
});
if ('leftMs' in term) throw new Error('another process leads the feed');
const body = JSON.stringify({ text: 'x'.repeat(1_000) });
let posts = 0;
const some = (count: number) =>
  Array.from({ length: count }, () => ({ id: `p${posts++}`, at: Date.now(), body }));
for (const [count, rounds] of [
  [1, 3_000],
  [100, 300],
] as const) {
  const from = performance.now();
  for (let round = 0; round < rounds; round++) await term.publish(some(count));
  print(
    `publish in batches of ${count}: ${Math.round((count * rounds * 1_000) / (performance.now() - from))} posts/s`,
  );
}

const total = posts;
const done = new AbortController();
const open = () => connectStore(address);
let read = 0;
const began = performance.now();
for await (const event of createFollower({
  open,
  feed,
  clock: systemClock,
  begin: { kind: 'since', ms: 0 },
}).events(done.signal)) {
  if (event.kind === 'rows') read += event.rows.length;
  if (read >= total) done.abort();
}
print(`read: ${Math.round((read * 1_000) / (performance.now() - began))} posts/s`);

const over = new AbortController();
const lags: number[] = [];
const FOLLOWERS = 100;
const reading = Array.from({ length: FOLLOWERS }, async () => {
  for await (const event of createFollower({ open, feed, clock: systemClock, begin: { kind: 'now' } }).events(
    over.signal,
  )) {
    if (event.kind === 'rows') for (const row of event.rows) lags.push(Date.now() - (row.at ?? 0));
  }
});
await delay(2_000);
for (let post = 0; post < 330; post++) {
  await term.publish(some(1));
  await delay(30);
}
await delay(500);
over.abort();
await Promise.all(reading);
print(`${FOLLOWERS} followers at 33 posts/s: ${lags.length} deliveries, ${durations(lags, 0.5, 0.95)}`);
store.close();
await server.remove();
