// Runs the real program through a month on an accelerated clock: memory after each tenth, and lost or repeated posts.
//
//   npm run build && npx esbuild test/bench/month.ts --bundle --packages=external --platform=node --format=esm \
//     --outfile=node_modules/.bench/month.mjs && node node_modules/.bench/month.mjs [--days 30] [--speed 500] [--via ws|poll]
//
// The feed is a separate process with one post of 1.2 KB per second of the same accelerated clock: all timers and times of
// both processes run `speed` times as fast, so that the known ids, files, polls and status files are those of a real month.
// Sockets are closed once per simulated hour. A month takes 90 minutes at a speed of 500. The variable TRDR sets the start
// script to measure.
import { type ChildProcess, spawn } from 'node:child_process';
import {
  createReadStream,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createGunzip } from 'node:zlib';
import { WebSocketServer } from 'ws';
import { thesis } from '../e2e/records.ts';
import { envIn, me, print } from './measure.ts';

const here = fileURLToPath(import.meta.url);
const MB = 2 ** 20;
const HOUR = 3_600_000;
const words = 'I hold this since the launch, and I will hold it through the next one. Not advice. '.repeat(9);

/** A module that accelerates the clock of a process, and records its memory every ten real seconds. */
const FAST_CLOCK = `const { BENCH_START, BENCH_SPEED, BENCH_MEMORY } = process.env;
const [start, speed] = [Number(BENCH_START), Number(BENCH_SPEED)];
const [now, mono] = [Date.now, performance.now.bind(performance)];
Date.now = () => Math.floor(start + (now() - start) * speed);
performance.now = () => mono() * speed;
for (const holder of [globalThis, require('node:timers'), require('node:timers/promises')]) {
  for (const name of ['setTimeout', 'setInterval']) {
    const original = holder[name];
    if (holder !== globalThis && original === globalThis[name]) continue;
    const isPromise = holder === require('node:timers/promises');
    holder[name] = (first, second, ...rest) =>
      isPromise ? original(first / speed, second, ...rest) : original(first, (second ?? 0) / speed, ...rest);
  }
}
if (BENCH_MEMORY !== undefined) {
  const { appendFileSync } = require('node:fs');
  const sample = () => appendFileSync(BENCH_MEMORY, process.memoryUsage.rss() + '\\n');
  setInterval(sample, 10_000 * speed).unref();
  process.once('exit', () => {
    const { userCPUTime, systemCPUTime } = process.resourceUsage();
    sample();
    process.stderr.write('CPU ' + Math.round((userCPUTime + systemCPUTime) / 1e6) + ' s\\n');
  });
}
`;

const idOf = (second: number) => `t${String(second).padStart(11, '0')}`;
const record = (second: number) => ({
  ...thesis(second),
  id: idOf(second),
  thesis: `${second}: ${words}`,
  platformCreatedAt: second * 1_000,
});

/** Serves one post per second of the clock, in pages and frames. */
function serve(): void {
  const last = () => Math.floor(Date.now() / 1_000);
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://feed');
    const limit = Number(url.searchParams.get('limit') ?? 20);
    const before = url.searchParams.get('before');
    const newest = before === null ? last() : Number(before.slice(1)) - 1;
    const items = Array.from({ length: limit }, (_, i) => record(newest - i));
    const nextBefore = idOf(newest - limit + 1);
    const page = { count: limit, hasMore: true, nextBefore, updatedAt: null, items };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(url.pathname === '/v2/thesis' ? page : me));
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    let sent = last();
    socket.on('error', () => {});
    socket.on('message', () => {
      socket.send(JSON.stringify({ type: 'subscription', subscription: { type: 'all' } }));
      sent = last();
      const post = setInterval(() => {
        for (; sent < last(); sent++) socket.send(JSON.stringify({ type: 'thesis', data: record(sent + 1) }));
      }, 1_000);
      const ping = setInterval(() => socket.ping(), 30_000);
      const close = setTimeout(() => socket.close(1001), HOUR);
      socket.once('close', () => [post, ping, close].forEach(clearTimeout));
    });
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (typeof address === 'object' && address) process.send?.({ port: address.port });
  });
  process.once('disconnect', () => process.exit());
}

const ended = (child: ChildProcess) => new Promise<number | null>((settle) => child.once('exit', settle));

async function measure(): Promise<void> {
  const { values } = parseArgs({
    options: {
      days: { type: 'string', default: '30' },
      speed: { type: 'string', default: '500' },
      via: { type: 'string', default: 'ws' },
      node: { type: 'string', multiple: true, default: [] },
    },
  });
  const [days, speed] = [Number(values.days), Number(values.speed)];
  // Use a file system in memory if possible, because thousands of files are synced.
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'trdr-bench-'));
  const [fast, memory] = [join(folder, 'fast.cjs'), join(folder, 'memory')];
  writeFileSync(fast, FAST_CLOCK);
  const clock = { BENCH_START: String(Date.now()), BENCH_SPEED: String(speed) };
  const feed = spawn(process.execPath, ['--require', fast, here, 'serve'], {
    env: { ...envIn(folder), ...clock },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const port = await new Promise<number>((settle) =>
    feed.once('message', (message: { port: number }) => settle(message.port)),
  );
  const tail = `thesis tail --via ${values.via} --lag 60s --yes --duration ${days * 24}h --heartbeat 1d`;
  const files = '--out theses.ndjson --rotate 6h --status tail.prom';
  const program = resolve(process.env['TRDR'] ?? 'bin/trdr.js');
  const words = [...values.node, program, ...`${tail} ${files}`.split(' ')];
  const client = spawn(process.execPath, ['--require', fast, ...words], {
    cwd: folder,
    env: { ...envIn(folder, { url: `http://127.0.0.1:${port}` }), ...clock, BENCH_MEMORY: memory },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const code = await ended(client);
  feed.disconnect();
  const samples = readFileSync(memory, 'utf8')
    .trim()
    .split('\n')
    .map((line) => Number(line) / MB);
  const tenths = Array.from({ length: 10 }, (_, i) =>
    Math.max(
      ...samples.slice(
        Math.floor((i * samples.length) / 10),
        Math.max(1, Math.ceil(((i + 1) * samples.length) / 10)),
      ),
    ),
  );
  print(`exit code ${code}; ${days} days via ${values.via}, at most ${Math.max(...samples).toFixed(0)} MB`);
  print(`highest MB of each tenth: ${tenths.map((mb) => mb.toFixed(0)).join(' ')}`);
  print(await wrongPosts(folder));
  rmSync(folder, { recursive: true, force: true });
}

/** Counts missing and repeated posts over all files. */
async function wrongPosts(folder: string): Promise<string> {
  const names = readdirSync(folder).filter((name) => name.startsWith('theses.') && name.includes('.ndjson'));
  const counts = new Map<number, number>();
  for (const name of names) {
    const bytes = createReadStream(join(folder, name));
    for await (const line of createInterface(name.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes)) {
      const second = Number(line.slice(8, 19));
      counts.set(second, (counts.get(second) ?? 0) + 1);
    }
  }
  const seconds = [...counts.keys()].sort((a, b) => a - b);
  const missing = (seconds.at(-1) ?? 0) - (seconds[0] ?? 0) + 1 - seconds.length;
  const repeated = [...counts.values()].filter((count) => count > 1).length;
  return `${seconds.length} posts in ${names.length} files, ${missing} missing, ${repeated} repeated`;
}

if (process.argv[2] === 'serve') serve();
else await measure();
