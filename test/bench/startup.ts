// The duration of trdr runs as ratios to `node -e 0` within the same round; medians over all rounds.
//
//   npm run build && npx esbuild test/bench/startup.ts --bundle --packages=external --platform=node --format=esm \
//     --outfile=node_modules/.bench/startup.mjs && node node_modules/.bench/startup.mjs [ROUNDS] [NODE...]
//
// Each NODE is the path of a node to measure (default: the running one). The variable TRDR sets the start script to
// measure (default: bin/trdr.js). `cold` runs have no compiled code, like the first run after an install.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { cert, key } from '../core/http/certificate.ts';
import { user } from '../e2e/records.ts';
import { me, median } from './measure.ts';

const program = resolve(process.env['TRDR'] ?? 'bin/trdr.js');
const home = mkdtempSync(join(tmpdir(), 'trdr-bench-'));

const answer: RequestListener = (request, response) => {
  const [, handle] = /^\/v2\/user\/handle\/(\w+)$/.exec(request.url ?? '') ?? [];
  response.writeHead(200, { 'content-type': 'application/json' });
  // Two handles of one id would be a rename, after which the earlier one is requested again.
  const id = `00000000-0000-4000-8000-${Buffer.from(handle ?? '')
    .toString('hex')
    .padStart(12, '0')
    .slice(-12)}`;
  response.end(JSON.stringify(handle === undefined ? me : { ...user, id, handle }));
};
const plain = createServer(answer);
const secure = createSecureServer({ cert, key }, answer);
const listen = (server: Server) =>
  new Promise<number>((settle, fail) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (typeof address === 'object' && address !== null) settle(address.port);
      else fail(new Error('no port'));
    });
  });
const http = `http://127.0.0.1:${await listen(plain)}`;
const https = `https://127.0.0.1:${await listen(secure)}`;

// Do not use NODE_EXTRA_CA_CERTS: it slows down every start of Node 20 by more than trdr takes. This module adds
// the certificate to the built-in ones, so the measured time includes loading these.
const trust = join(home, 'trust.cjs');
writeFileSync(
  trust,
  `const tls = require('node:tls');
const create = tls.createSecureContext;
tls.createSecureContext = (options) => {
  const made = create(options);
  made.context.addCACert(${JSON.stringify(cert)});
  return made;
};
`,
);

interface Case {
  readonly name: string;
  readonly args: (unique: number) => readonly string[];
  readonly url?: string;
  readonly cold?: boolean;
  readonly most?: number;
}

const trdr = (...words: string[]) => [program, ...words];
const baseline = 'node -e 0';
const cases: readonly Case[] = [
  { name: baseline, args: () => ['-e', '0'] },
  { name: '--version', args: () => trdr('--version'), most: 1.2 },
  { name: '--help', args: () => trdr('--help'), most: 1.2 },
  { name: 'whois --help', args: () => trdr('whois', '--help'), most: 1.3 },
  { name: 'completion zsh', args: () => trdr('completion', 'zsh'), most: 1.25 },
  { name: 'completion', args: () => trdr('__complete', 'handle', 'm'), most: 1.25, url: http },
  { name: 'price', args: () => trdr('price') },
  { name: 'whois, kept', args: () => trdr('whois', 'mira'), url: http, most: 1.8 },
  { name: 'whois, kept, cold', args: () => trdr('whois', 'mira'), url: http, cold: true },
  { name: 'whois, http', args: (unique) => trdr('whois', `mira${unique}`), url: http, most: 3.2 },
  {
    name: 'whois, http, cold',
    args: (unique) => trdr('whois', `mira${unique}`),
    url: http,
    cold: true,
  },
  {
    name: 'whois, https',
    args: (unique) => ['--require', trust, ...trdr('whois', `mira${unique}`)],
    url: https,
    most: 4.2,
  },
];

let runs = 0;

/** Runs a command line and returns its duration. */
function time(node: string, { name, args, url, cold }: Case): Promise<number> {
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    ...(url && { TRDR_BASE_URL: url, TRDR_API_KEY: 'bench_0123456789abcdef0123456789abcdef' }),
    ...(cold && { NODE_DISABLE_COMPILE_CACHE: '1' }),
  };
  return new Promise((settle, fail) => {
    const start = performance.now();
    const child = spawn(node, args(runs++), { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    let took = 0;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (part) => {
        said += part;
      });
    }
    child.on('exit', () => {
      took = performance.now() - start;
    });
    child.on('close', (code) => {
      if (code === 0 && (said !== '' || name === baseline)) settle(took);
      else fail(new Error(`${name} ended in ${code}: ${said}`));
    });
  });
}

async function measure(node: string, rounds: number): Promise<string> {
  const times = new Map<string, number[]>(cases.map(({ name }) => [name, []]));
  // Three warm-up rounds for disk, cached answers and compiled code.
  for (let round = -3; round < rounds; round++) {
    for (const each of cases) {
      // Ignore failures of the first rounds: completion needs cached handles, which later cases add.
      const took = await time(node, each).catch((error: unknown) => {
        if (round < -1) return Number.NaN;
        throw error;
      });
      if (round >= 0) times.get(each.name)?.push(took);
    }
  }
  const base = times.get(baseline) ?? [];
  return cases
    .map(({ name, most }) => {
      const all = times.get(name) ?? [];
      const ratio = median(all.map((took, round) => took / (base[round] ?? Number.NaN)));
      // Other load only adds time, so the minimum is the best estimate.
      const least = Math.min(...all) / Math.min(...base);
      const mark = most === undefined ? '' : `  at most ${most}`;
      return `${name.padEnd(18)} ${median(all).toFixed(1).padStart(6)} ms ${ratio.toFixed(2).padStart(6)}, least ${least.toFixed(2)}${mark}`;
    })
    .join('\n');
}

const [rounds = '15', ...nodes] = process.argv.slice(2);
try {
  for (const node of nodes.length === 0 ? [process.execPath] : nodes) {
    process.stdout.write(`${node}\n${await measure(node, Number(rounds))}\n\n`);
  }
} finally {
  rmSync(home, { recursive: true, force: true });
  for (const server of [plain, secure]) {
    server.closeAllConnections();
    server.close();
  }
}
