// Compares the tail with clients that only write frames: frames per second, CPU and memory.
//
//   npm run build && npx esbuild test/bench/tail.ts --bundle --packages=external --platform=node --format=esm \
//     --outfile=node_modules/.bench/tail.mjs && node node_modules/.bench/tail.mjs [speed|stall] [FLAGS]
//
//   speed   --rounds 7 --frames 200000    all clients in turn, to a file and to a pipe; at most 250,000 frames, because
//                                         a tail remembers at most 300,000 posts that no page has verified
//   stall   --seconds 60                  a reader that starts after this time: memory and lost lines
//
// The feed is a separate process. In a flood it sends frames of 1.2 KB as fast as the connection accepts them, and its
// pages do not change, like those of a lagging replica. For the stall it publishes 500 per second, in pages too.
// A run is timed from the first frame sent to the end of the client. The variable TRDR sets the start script to measure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { WebSocket, WebSocketServer } from 'ws';
import { thesis } from '../e2e/records.ts';
import { envIn, me, median, print } from './measure.ts';

const here = fileURLToPath(import.meta.url);
const EPOCH = 1_700_000_000_000;
const text = 'I hold this since the launch, and I will hold it through the next one. Not advice. '.repeat(8);

const record = (index: number) => ({
  ...thesis(index),
  id: `t${String(index).padStart(11, '0')}`,
  thesis: text,
  platformCreatedAt: EPOCH + index,
});

// --- The feed -------------------------------------------------------------------------------------------------------

/** Posts from before the first connection. */
const PAST = 40;
const RATE = 500;
/** The number of frames per write. */
const PIECE = 64;

/** Creates the bytes of a frame, with placeholders for the values that change. */
function createFrames() {
  const json = Buffer.from(JSON.stringify({ type: 'thesis', data: record(0) }));
  const frame = Buffer.concat([Buffer.from([0x81, 126, json.length >> 8, json.length & 255]), json]);
  const id = frame.indexOf('"id":"t') + 7;
  const time = frame.indexOf('"platformCreatedAt":') + 20;
  return (from: number, to: number) => {
    const bytes = Buffer.allocUnsafe(frame.length * (to - from));
    for (let i = from; i < to; i++) {
      const at = frame.length * (i - from);
      frame.copy(bytes, at);
      bytes.write(String(i).padStart(11, '0'), at + id, 'latin1');
      bytes.write(String(EPOCH + i), at + time, 'latin1');
    }
    return bytes;
  };
}

/** Serves the feed, and reports the port and the time of the first frame to its parent. */
function serve(frames: number, ends: boolean): void {
  const bytesOf = createFrames();
  const flood = frames > 0;
  let posted = PAST;
  let asked = performance.now();
  const listeners = new Set<Duplex>();

  const page = (before: string | null, limit: number) => {
    const newest = before === null ? (flood ? PAST : posted) - 1 : Number(before.slice(1)) - 1;
    const ids = Array.from({ length: Math.min(limit, newest + 1) }, (_, i) => newest - i);
    const last = ids.at(-1) ?? 0;
    return {
      count: ids.length,
      hasMore: last > 0,
      nextBefore: last > 0 ? record(last).id : null,
      updatedAt: null,
      items: ids.map(record),
    };
  };
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    asked = performance.now();
    const url = new URL(request.url ?? '/', 'http://feed');
    const limit = Number(url.searchParams.get('limit') ?? 20);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(url.pathname === '/v2/thesis' ? page(url.searchParams.get('before'), limit) : me),
    );
  };
  const send = async (socket: Duplex) => {
    // Wait until the client has requested no page for 200 ms, because some clients read pages after subscribing.
    while (performance.now() - asked < 200) await new Promise((settle) => setTimeout(settle, 20));
    process.send?.({ first: Date.now() });
    const closed = once(socket, 'close');
    for (let at = PAST; at < PAST + frames && !socket.destroyed; at += PIECE) {
      if (socket.write(bytesOf(at, Math.min(at + PIECE, PAST + frames)))) continue;
      await Promise.race([once(socket, 'drain'), closed]);
    }
    // Close the connection for clients that cannot stop by themselves.
    if (ends) socket.write(Buffer.from([0x88, 0]));
  };
  if (!flood) {
    const began = performance.now();
    setInterval(() => {
      const until = PAST + Math.floor(((performance.now() - began) * RATE) / 1_000);
      for (const socket of listeners) socket.write(bytesOf(posted, until));
      posted = until;
    }, 20);
  }
  const sockets = new WebSocketServer({ noServer: true });
  const server = createServer(answer);
  server.on('upgrade', (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.on('error', () => {});
      client.on('close', () => listeners.delete(socket));
      client.on('message', () => {
        client.send(JSON.stringify({ type: 'subscription', subscription: { type: 'all' } }));
        asked = performance.now();
        if (flood) send(socket);
        else listeners.add(socket);
      });
    }),
  );
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (typeof address === 'object' && address) process.send?.({ port: address.port });
  });
  process.once('disconnect', () => process.exit());
}

// --- The clients ----------------------------------------------------------------------------------------------------

const trdr = 'trdr thesis tail';
const base = 'ws, one write per frame';

/** What each client does with a frame. */
const plain: Readonly<Record<string, (frame: Buffer) => void>> = {
  [base]: (frame) => {
    process.stdout.write(frame);
  },
  'ws, parsed, without known ids': batching(),
  'ws, parsed and serialized again': (frame) => {
    process.stdout.write(`${JSON.stringify(JSON.parse(frame.toString()).data)}\n`);
  },
};

/** Parses each frame, skips repeated ids, and writes the record's bytes in batches. */
function batching(): (frame: Buffer) => void {
  const seen = new Set<string>();
  const start = '{"type":"thesis","data":'.length;
  let chunk = Buffer.allocUnsafeSlow(262_144);
  let used = 0;
  const push = () => {
    process.stdout.write(chunk.subarray(0, used));
    chunk = Buffer.allocUnsafeSlow(262_144);
    used = 0;
  };
  process.once('beforeExit', push);
  return (frame) => {
    const raw = frame.subarray(start, frame.length - 1);
    const { id } = JSON.parse(raw.toString());
    if (typeof id !== 'string' || seen.has(id)) return;
    seen.add(id);
    if (raw.length >= chunk.length - used) push();
    used += raw.copy(chunk, used);
    chunk[used++] = 10;
  };
}

function plainClient(url: string, count: number, each: (frame: Buffer) => void): void {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  let left = count;
  socket.on('open', () => socket.send('{"type":"subscribe","subscription":{"type":"all"}}'));
  socket.on('message', (frame: Buffer) => {
    if (frame.length < 100) return;
    each(frame);
    if (--left === 0) socket.close();
  });
}

const program = resolve(process.env['TRDR'] ?? 'bin/trdr.js');
const wscat = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((path) => join(path, 'wscat'))
  .find((path) => existsSync(path));

/** The node arguments of a client that ends after a number of frames. */
function argsOf(name: string, port: number, count: number): string[] {
  if (name === trdr) return [program, 'thesis', 'tail', '--via', 'ws', '--yes', '--count', String(count)];
  const url = `ws://127.0.0.1:${port}/v2/ws`;
  if (name !== 'wscat') return [here, 'client', name, url, String(count)];
  return [wscat ?? '', '--connect', url, '--execute', '{"type":"subscribe"}', '--wait', '600'];
}

// --- The runs -------------------------------------------------------------------------------------------------------

interface Used {
  readonly code: number;
  readonly endedAt: number;
  readonly cpuMs: number;
  readonly mb: number;
  /** Memory in MB, once a second. */
  readonly samples: readonly number[];
}

interface Run extends Used {
  readonly ms: number;
  /** What the reader printed. */
  readonly said: string;
}

/** A module that reports the resource usage of its process at exit. */
const METER = `const samples = [];
setInterval(() => samples.push(process.memoryUsage.rss() / 1048576), 1000).unref();
process.once('exit', (code) => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const cpuMs = (userCPUTime + systemCPUTime) / 1000;
  const used = { code, endedAt: Date.now(), cpuMs, mb: maxRSS / 1024, samples };
  require('node:fs').writeFileSync(process.env.BENCH_USED, JSON.stringify(used));
});
`;

/** Runs one client on its own feed; a shell redirection sets its output. */
async function run(folder: string, name: string, frames: number, count: number, to: string): Promise<Run> {
  const feed = spawn(process.execPath, [here, 'serve', String(frames), name === 'wscat' ? 'ends' : ''], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  let first = Date.now();
  const port = await new Promise<number>((settle) => {
    feed.on('message', (message: { port?: number; first?: number }) => {
      first = message.first ?? first;
      if (message.port !== undefined) settle(message.port);
    });
  });
  const [meter, used] = [join(folder, 'meter.cjs'), join(folder, 'used.json')];
  writeFileSync(meter, METER);
  const words = [process.execPath, '--require', meter, ...argsOf(name, port, count)];
  const shell = spawn('sh', ['-c', `"$@" ${to}`, 'sh', ...words], {
    cwd: folder,
    env: { ...envIn(folder, { url: `http://127.0.0.1:${port}` }), BENCH_USED: used },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let [said, errors] = ['', ''];
  shell.stdout.on('data', (part) => {
    said += part;
  });
  shell.stderr.on('data', (part) => {
    errors += part;
  });
  await new Promise((settle) => shell.once('close', settle));
  feed.disconnect();
  const result: Used = JSON.parse(readFileSync(used, 'utf8'));
  rmSync(used);
  if (result.code !== 0) throw new Error(`${name} ended in ${result.code}: ${errors}`);
  return { ...result, ms: result.endedAt - first, said: said.trim() };
}

async function speed(folder: string, rounds: number, frames: number) {
  const names = [base, trdr, ...Object.keys(plain).filter((name) => name !== base)];
  if (wscat) names.push('wscat');
  else print('wscat is absent');
  for (const [where, to] of [
    ['a file', '> out'],
    ['a pipe', '| wc -l'],
  ] as const) {
    const all = new Map<string, Run[]>(names.map((name) => [name, []]));
    for (let round = -1; round < rounds; round++) {
      for (const name of names) {
        const result = await run(folder, name, frames, frames, to);
        if (round >= 0) all.get(name)?.push(result);
      }
    }
    print(`\n${frames} frames into ${where}, median of ${rounds}; x: times as fast as "${base}"`);
    for (const [name, runs] of all) {
      const of = (pick: (run: Run) => number) => median(runs.map(pick));
      const ratio = median(runs.map(({ ms }, round) => (all.get(base)?.[round]?.ms ?? Number.NaN) / ms));
      const figures = [
        `${(frames / of(({ ms }) => ms)).toFixed(0).padStart(4)} k/s`,
        `${ratio.toFixed(2).padStart(5)}x`,
        `${((1_000 * of(({ cpuMs }) => cpuMs)) / frames).toFixed(1).padStart(5)} us CPU per frame`,
        `${Math.max(...runs.map(({ mb }) => mb))
          .toFixed(0)
          .padStart(4)} MB`,
      ];
      print(`${name.padEnd(28)} ${figures.join('  ')}  ${runs[0]?.said && `${runs[0].said} lines`}`);
    }
  }
}

/** Missing and duplicate lines in a file of consecutive posts. */
async function wrongLines(path: string, count: number): Promise<string> {
  const ids = new Set<number>();
  let lines = 0;
  for await (const line of createInterface(createReadStream(path))) {
    lines++;
    ids.add(Number(line.slice(8, 19)));
  }
  const [least, most] = [
    Math.min(...[...ids].slice(0, 10_000)),
    [...ids].reduce((a, b) => Math.max(a, b), 0),
  ];
  return `${lines} lines, ${lines - ids.size} double, ${most - least + 1 - ids.size} missing${lines === count ? '' : '!'}`;
}

async function stall(folder: string, seconds: number) {
  const count = RATE * (seconds + 15);
  print(`${RATE} posts per second, and a reader that stalls for ${seconds} s`);
  const { mb, samples } = await run(folder, trdr, 0, count, `| { sleep ${seconds}; cat > out; }`);
  const meanwhile = Math.max(...samples.slice(0, seconds));
  print(`${trdr}: ${meanwhile.toFixed(0)} MB meanwhile, at most ${mb.toFixed(0)} MB while it catches up`);
  print(await wrongLines(join(folder, 'out'), count));
}

async function measure(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '7' },
      frames: { type: 'string' },
      seconds: { type: 'string', default: '60' },
    },
  });
  const folder = mkdtempSync(join(tmpdir(), 'trdr-bench-'));
  try {
    const [what = 'speed'] = positionals;
    if (what === 'stall') await stall(folder, Number(values.seconds));
    else await speed(folder, Number(values.rounds), Number(values.frames ?? 200_000));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const [role, one = '', two = '', three = ''] = process.argv.slice(2);
if (role === 'serve') serve(Number(one), two === 'ends');
else if (role === 'client') plainClient(two, Number(three), plain[one] ?? (() => {}));
else await measure();
