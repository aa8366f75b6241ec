// Measures the export of many handles: CPU per handle, time and memory. The service is the sandbox in a
// separate process, without limits. Needs the built program and bash.
//
//   npx esbuild test/bench/pnl.ts --bundle --packages=external --platform=node --format=esm \
//     --outfile=node_modules/.bench/pnl.mjs && node node_modules/.bench/pnl.mjs [ROUNDS] [HANDLES] [PROGRAM]
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startSandbox } from '../sandbox/service.ts';
import { envIn, type Measured, measure, median } from './measure.ts';

interface Service {
  readonly url: string;
  readonly key: string;
  readonly handles: readonly string[];
}

async function serve(traders: number): Promise<void> {
  const sandbox = await startSandbox({
    plan: 'enterprise',
    unmetered: true,
    ratePerMinute: 10_000_000,
    burstPerSecond: 10_000_000,
    traders,
  });
  const { url, key, world } = sandbox;
  process.stdout.write(`${JSON.stringify({ url, key, handles: world.handles() })}\n`);
}

const program = '"$NODE" "$PROGRAM" pnl --file "$LIST"';
const scripts: Readonly<Record<string, string>> = {
  'trdr pnl > file': `${program} -y > "$DIR/piped"`,
  'trdr pnl --out': `${program} --out "$DIR/out.ndjson" --fresh -y`,
  'trdr pnl --out, CSV': `${program} --out "$DIR/out.csv" --fresh -y`,
};

async function compare(rounds: number, count: number, path: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'trdr-bench-'));
  const env = envIn(folder);
  const server = spawn(
    process.execPath,
    [fileURLToPath(import.meta.url), '--serve', String(count)],
    { env },
  );
  try {
    let line = '';
    for await (line of createInterface({ input: server.stdout })) break;
    const { url, key, handles }: Service = JSON.parse(line);
    const list = join(folder, 'list');
    writeFileSync(list, `${handles.slice(0, count).join('\n')}\n`);
    const given = {
      ...envIn(folder, { url, key }),
      ...{ NODE: process.execPath, PROGRAM: path, LIST: list },
    };
    const results = new Map<string, Measured[]>(Object.keys(scripts).map((name) => [name, []]));
    // Run once before measuring, because the sandbox generates its data on first use.
    await measure(scripts['trdr pnl > file'] ?? ':', given, folder);
    for (let round = 0; round < rounds; round++) {
      for (const [name, script] of Object.entries(scripts))
        results.get(name)?.push(await measure(script, given, folder));
    }
    const lines = [...results].map(([name, all]) => {
      const cpu = median(all.map(({ cpuMs }) => cpuMs)) / count;
      const rate = count / (median(all.map(({ ms }) => ms)) / 1000);
      const mb = Math.max(...all.map((one) => one.mb));
      return `${name.padEnd(30)} ${cpu.toFixed(3).padStart(8)} ms CPU per handle  ${rate.toFixed(0).padStart(7)} handles/s  ${mb.toFixed(0).padStart(4)} MB`;
    });
    process.stdout.write(`${count} handles, median of ${rounds}\n${lines.join('\n')}\n`);
  } finally {
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

const [first, count = '2000', path = 'bin/trdr.js'] = process.argv.slice(2);
if (first === '--serve') await serve(Number(count));
else await compare(Number(first ?? 5), Number(count), resolve(path));
