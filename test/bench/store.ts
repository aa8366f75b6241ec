// Measures the shared store with a real server. Build first, then: npx esbuild test/bench/store.ts --bundle
// --platform=node --format=esm --packages=external --outfile=node_modules/.bench-store.mjs && node node_modules/.bench-store.mjs

import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { periodsAt } from '../../src/base/periods.ts';
import { readStoreUrl } from '../../src/store/address.ts';
import { connectStore } from '../../src/store/connection.ts';
import { Follower } from '../../src/store/feed/follower.ts';
import { openTerm } from '../../src/store/feed/leader-term.ts';
import type { Begin } from '../../src/store/feed/start.ts';
import { keysOf } from '../../src/store/keys.ts';
import { script } from '../../src/store/script.ts';
import { laneScripts } from '../../src/store/scripts/lanes.ts';
import { spendingScripts } from '../../src/store/scripts/spending.ts';
import { createStoreServer } from '../store/server.ts';
import { durations, median, print } from './measure.ts';

const { begin, settle } = spendingScripts;
const { take } = laneScripts;

const server = await createStoreServer();
const address = readStoreUrl(server.url);
const store = await connectStore(address, { commandMs: 60_000 });
const keys = keysOf({ baseUrl: 'https://api.example.test', key: 'k' });

async function times(
  name: string,
  rounds: number,
  work: (round: number) => Promise<unknown>,
): Promise<void> {
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
const today = [Date.parse(day), day];
const { open, calls: begun, done: ended, caps, ledger } = keys;
const sums = [open, begun, ended, keys.sum(month), keys.sum(day), caps, ledger];
const call = ['a', 'whois', 'user.handle'];
await times('begin', 5_000, (round) =>
  store.run(begin, sums, [...today, `b${round}`, 100, 0, 60_000, ...call, 'boot']),
);
await times('settle', 5_000, (round) =>
  store.run(settle, sums, [...today, `s${round}`, 'paid', 100, 100, ...call, 200, 'r']),
);
await times('connect', 50, async () => (await connectStore(address)).close());

const feed = keys.feed('thesis');
const lead = async (leader: typeof store) => {
  const keep = { keepMs: 3_600_000, keepRows: 10_000_000 };
  const term = await openTerm(leader, { feed, clock: systemClock, ...keep, describe: () => ({}) });
  if (term.leftMs !== undefined) throw new Error('another process leads the feed');
  return term;
};
const term = await lead(store);
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
const follow = (begin: Begin) =>
  new Follower({ open: () => connectStore(address), feed, clock: systemClock, begin });
let read = 0;
const began = performance.now();
for await (const event of follow({ kind: 'since', ms: 0 }).events(done.signal)) {
  if (event.kind === 'rows') read += event.rows.length;
  if (read >= total) done.abort();
}
print(`read: ${Math.round((read * 1_000) / (performance.now() - began))} posts/s`);

const over = new AbortController();
setMaxListeners(0, over.signal);
const lags: number[] = [];
const FOLLOWERS = 100;
const reading = Array.from({ length: FOLLOWERS }, async () => {
  for await (const event of follow({ kind: 'now' }).events(over.signal)) {
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
print(
  `${FOLLOWERS} followers at 33 posts/s: ${lags.length} deliveries, ${durations(lags, 0.5, 0.95)}`,
);

// How long a new leader takes to read the end of a stream with many entries, if the feed has no position.
await term.resign();
const fill = script('fill', {
  keys: ['stream'],
  args: ['from', 'count', 'body'],
  body: `
for at = from, from + count - 1 do
  redis.call('XADD', stream, '*', 'id', 'post' .. at, 'at', now, 'body', body)
end`,
});
const FILLED = 5_000;
let base: number | undefined;
for (const entries of [1, 1_000, 20_000, 1_000_000]) {
  await store.send('DEL', [feed.stream]);
  for (let at = 0; at < entries; at += FILLED)
    await store.run(fill, [feed.stream], [at, Math.min(FILLED, entries - at), body]);
  const all: number[] = [];
  for (let round = 0; round < 15; round++) {
    const own = await connectStore(address);
    const from = performance.now();
    const led = await lead(own);
    all.push(performance.now() - from);
    await led.resign();
    own.close();
  }
  base ??= median(all);
  const ratio = (median(all) / base).toFixed(0);
  print(`takeover of ${entries} entries: ${durations(all, 0.5, 0.95)}, ${ratio} times one entry`);
}
store.close();
await server.remove();
