// Measures the shared store with a real server. Build first, then: npx esbuild test/bench/store.ts --bundle
// --platform=node --format=esm --packages=external --outfile=node_modules/.bench-store.mjs && node node_modules/.bench-store.mjs

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

const folder = mkdtempSync(join(tmpdir(), 'trdr-bench-'));
const port = 7_000 + (process.pid % 1_000);
const conf = [
  '--port',
  `${port}`,
  '--bind',
  '127.0.0.1',
  '--dir',
  folder,
  '--save',
  '',
  '--appendonly',
  'yes',
];
const server = spawn('redis-server', conf, { stdio: 'ignore' });
await delay(500);
const address = readStoreUrl(`redis://127.0.0.1:${port}`);
const store = await connectStore(address);
const keys = keysOf({ baseUrl: 'https://api.example.test', key: 'k' });
const say = (line: string) => process.stdout.write(`${line}\n`);

async function times(name: string, rounds: number, work: (round: number) => Promise<unknown>): Promise<void> {
  const all: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const from = performance.now();
    await work(round);
    all.push(performance.now() - from);
  }
  all.sort((one, other) => one - other);
  const at = (share: number) => (all[Math.floor(rounds * share)] ?? 0).toFixed(2);
  say(`${name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
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
  say(
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
say(`read: ${Math.round((read * 1_000) / (performance.now() - began))} posts/s`);

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
lags.sort((one, other) => one - other);
const lag = (share: number) => lags[Math.floor(lags.length * share)];
say(
  `${FOLLOWERS} followers at 33 posts/s: ${lags.length} deliveries, p50 ${lag(0.5)} ms, p95 ${lag(0.95)} ms`,
);
server.kill();
await once(server, 'exit');
rmSync(folder, { recursive: true, force: true });
