// Measures the tail: frames per second, CPU and memory, next to clients that only write frames.
//
//   npm run build && npx esbuild test/bench/tail.ts --bundle --packages=external --platform=node --format=esm \
//     --outfile=node_modules/.bench/tail.mjs && node node_modules/.bench/tail.mjs [speed|stall|month] [FLAGS]
//
//   speed   --rounds 7 --frames 150000          all clients in turn, to a file and to a pipe; at most 150,000 frames, because
//                                               a tail remembers at most 200,000 posts that no page has verified
//   stall   --seconds 60                        a reader that starts after this time: memory and lost lines
//   month   --days 30 --speed 500 --via ws      memory, and missing and repeated posts, on an accelerated clock
//
// The feed is a separate process. In a flood it sends frames of 1.2 KB as fast as the connection accepts them, and its
// pages do not change, like those of a lagging replica. For the stall it publishes 500 per second, in pages too.
// A run is timed from the first frame sent to the end of the client. For the month it publishes one post per second of
// the accelerated clock: all timers and times of both processes run `speed` times as fast, so that the known ids, files,
// polls and status files are those of a real month. Sockets are closed once per hour. A month takes 90 minutes at a speed
// of 500. The variable TRDR sets the start script to measure.
import { spawn } from 'node:child_process';
import {
  createReadStream,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';
import { numberIn, serve } from './feed.ts';
import { envIn, median, print } from './measure.ts';

const here = fileURLToPath(import.meta.url);
/** Posts per second of a feed that is not a flood. */
const RATE = 500;

// --- The clients ----------------------------------------------------------------------------------------------------

const trdr = 'trdr thesis tail';
const base = 'ws, one write per frame';

/** What each client does with a frame. */
const plain: Readonly<Record<string, (frame: Buffer) => void>> = {
  [base]: (frame) => {
    process.stdout.write(frame);
  },
  'ws, parsed and serialized again': (frame) => {
    process.stdout.write(`${JSON.stringify(JSON.parse(frame.toString()).data)}\n`);
  },
};

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

/** The node arguments of a client that ends after a number of frames. */
function argsOf(name: string, port: number, count: number): string[] {
  if (name === trdr)
    return [program, 'thesis', 'tail', '--via', 'ws', '--yes', '--count', String(count)];
  return [here, 'client', name, `ws://127.0.0.1:${port}/v2/ws`, String(count)];
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

/** A module that accelerates the clock of a process. */
const FAST_CLOCK = `const { BENCH_START, BENCH_SPEED } = process.env;
const [start, speed] = [Number(BENCH_START), Number(BENCH_SPEED)];
const [now, mono] = [Date.now, performance.now.bind(performance)];
Date.now = () => Math.floor(start + (now() - start) * speed);
performance.now = () => mono() * speed;
const { bigint } = process.hrtime;
process.hrtime.bigint = () => BigInt(Math.round(Number(bigint()) * speed));
for (const holder of [globalThis, require('node:timers'), require('node:timers/promises')]) {
  for (const name of ['setTimeout', 'setInterval']) {
    const original = holder[name];
    if (holder !== globalThis && original === globalThis[name]) continue;
    const isPromise = holder === require('node:timers/promises');
    holder[name] = (first, second, ...rest) =>
      isPromise ? original(first / speed, second, ...rest) : original(first, (second ?? 0) / speed, ...rest);
  }
}
`;

/** A module that reports the resource usage of its process at exit, with its memory once a second of the clock, or each 10 s. */
const METER = `const samples = [];
const sample = () => samples.push(process.memoryUsage.rss() / 1048576);
setInterval(sample, Math.max(1000, 10_000 * (Number(process.env.BENCH_SPEED) || 0))).unref();
process.once('exit', (code) => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const cpuMs = (userCPUTime + systemCPUTime) / 1000;
  const used = { code, endedAt: Date.now(), cpuMs, mb: maxRSS / 1024, samples };
  require('node:fs').writeFileSync(process.env.BENCH_USED, JSON.stringify(used));
});
`;

interface Given {
  /** The node arguments of the client, which connects to this port. */
  readonly words: (port: number) => readonly string[];
  readonly frames?: number;
  readonly rate?: number;
  /** A shell redirection of the output. */
  readonly to: string;
  /** How many times as fast the clock runs. */
  readonly speed?: number | undefined;
}

/** Runs one client on its own feed. */
async function run(
  folder: string,
  { words, frames = 0, rate = 0, to, speed }: Given,
): Promise<Run> {
  const at = (name: string) => join(folder, name);
  const [meter, fast, used] = [at('meter.cjs'), at('fast.cjs'), at('used.json')];
  writeFileSync(meter, METER);
  writeFileSync(fast, FAST_CLOCK);
  const clock = speed && { BENCH_START: String(Date.now()), BENCH_SPEED: String(speed) };
  const faster = speed ? ['--require', fast] : [];
  const feed = spawn(process.execPath, [...faster, here, 'serve', String(frames), String(rate)], {
    env: { ...envIn(folder), ...clock },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  let first = Date.now();
  const port = await new Promise<number>((settle) => {
    feed.on('message', (message: { port?: number; first?: number }) => {
      first = message.first ?? first;
      if (message.port !== undefined) settle(message.port);
    });
  });
  const client = [process.execPath, ...faster, '--require', meter, ...words(port)];
  const shell = spawn('sh', ['-c', `"$@" ${to}`, 'sh', ...client], {
    cwd: folder,
    env: { ...envIn(folder, { url: `http://127.0.0.1:${port}` }), ...clock, BENCH_USED: used },
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
  if (result.code !== 0) throw new Error(`the client ended in ${result.code}: ${errors}`);
  return { ...result, ms: result.endedAt - first, said: said.trim() };
}

async function speed(folder: string, rounds: number, frames: number) {
  const names = [base, trdr, ...Object.keys(plain).filter((name) => name !== base)];
  for (const [where, to] of [
    ['a file', '> out'],
    ['a pipe', '| wc -l'],
  ] as const) {
    const all = new Map<string, Run[]>(names.map((name) => [name, []]));
    for (let round = -1; round < rounds; round++) {
      for (const name of names) {
        const words = (port: number) => argsOf(name, port, frames);
        const result = await run(folder, { words, frames, to });
        if (round >= 0) all.get(name)?.push(result);
      }
    }
    print(`\n${frames} frames into ${where}, median of ${rounds}; x: times as fast as "${base}"`);
    for (const [name, runs] of all) {
      const of = (pick: (run: Run) => number) => median(runs.map(pick));
      const ratio = median(
        runs.map(({ ms }, round) => (all.get(base)?.[round]?.ms ?? Number.NaN) / ms),
      );
      const figures = [
        `${(frames / of(({ ms }) => ms)).toFixed(0).padStart(4)} k/s`,
        `${ratio.toFixed(2).padStart(5)}x`,
        `${((1_000 * of(({ cpuMs }) => cpuMs)) / frames).toFixed(1).padStart(5)} us CPU per frame`,
        `${Math.max(...runs.map(({ mb }) => mb))
          .toFixed(0)
          .padStart(4)} MB`,
      ];
      print(
        `${name.padEnd(28)} ${figures.join('  ')}  ${runs[0]?.said && `${runs[0].said} lines`}`,
      );
    }
  }
}

/** Missing and repeated lines in files of consecutive posts. */
async function wrongLines(paths: readonly string[]): Promise<string> {
  const ids = new Set<number>();
  let lines = 0;
  for (const path of paths) {
    for await (const line of createInterface(createReadStream(path))) {
      lines++;
      ids.add(numberIn(line));
    }
  }
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (const id of ids) [least, most] = [Math.min(least, id), Math.max(most, id)];
  return `${lines} lines in ${paths.length} files, ${lines - ids.size} repeated, ${most - least + 1 - ids.size} missing`;
}

/** The highest memory in each tenth of a run. */
const tenths = (samples: readonly number[]) =>
  Array.from({ length: 10 }, (_, i) => {
    const from = Math.floor((i * samples.length) / 10);
    return Math.max(
      ...samples.slice(from, Math.max(from + 1, ((i + 1) * samples.length) / 10)),
    ).toFixed(0);
  }).join(' ');

async function stall(folder: string, seconds: number) {
  const count = RATE * (seconds + 15);
  print(`${RATE} posts per second, and a reader that stalls for ${seconds} s`);
  const words = (port: number) => argsOf(trdr, port, count);
  const { mb, samples } = await run(folder, {
    words,
    rate: RATE,
    to: `| { sleep ${seconds}; cat > out; }`,
  });
  const meanwhile = Math.max(...samples.slice(0, seconds));
  print(
    `${trdr}: ${meanwhile.toFixed(0)} MB meanwhile, at most ${mb.toFixed(0)} MB while it catches up`,
  );
  print(`${await wrongLines([join(folder, 'out')])} of ${count}`);
}

async function month(folder: string, days: number, speed: number, via: string) {
  const tail = `thesis tail --via ${via} --lag 60s --yes --duration ${Math.round(days * 1_440)}m --heartbeat 1d`;
  const files = '--out theses.ndjson --rotate 6h --status tail.prom';
  const words = () => [program, ...`${tail} ${files}`.split(' ')];
  const { mb, cpuMs, samples } = await run(folder, { words, rate: 1, to: '', speed });
  print(
    `${days} days via ${via}: at most ${mb.toFixed(0)} MB, ${(cpuMs / 1_000).toFixed(0)} s CPU, highest MB of each tenth: ${tenths(samples)}`,
  );
  const names = readdirSync(folder).filter((name) => /^theses.*\.ndjson$/.test(name));
  print(await wrongLines(names.map((name) => join(folder, name))));
}

async function measure(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '7' },
      frames: { type: 'string' },
      seconds: { type: 'string', default: '60' },
      days: { type: 'string', default: '30' },
      speed: { type: 'string', default: '500' },
      via: { type: 'string', default: 'ws' },
    },
  });
  const [what = 'speed'] = positionals;
  // Use a file system in memory if possible, because a month syncs thousands of files.
  const isInMemory = what === 'month' && existsSync('/dev/shm');
  const folder = mkdtempSync(join(isInMemory ? '/dev/shm' : tmpdir(), 'trdr-bench-'));
  try {
    if (what === 'stall') await stall(folder, Number(values.seconds));
    else if (what === 'month')
      await month(folder, Number(values.days), Number(values.speed), values.via);
    else await speed(folder, Number(values.rounds), Number(values.frames ?? 150_000));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const [role, one = '', two = '', three = ''] = process.argv.slice(2);
if (role === 'serve') serve(Number(one), Number(two));
else if (role === 'client') plainClient(two, Number(three), plain[one] ?? (() => {}));
else await measure();
