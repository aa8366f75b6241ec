// Compares the export of many handles with loops of curl and jq: CPU per handle, time and memory. The
// service is the sandbox in a separate process, without limits. Needs the built program, bash, curl and jq.
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

/** The number of handles for the loops that send one call per handle. */
const FEW = 200;

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

const curl = 'curl -sf -H "Authorization: Bearer $TRDR_API_KEY"';
const loops: Record<string, { readonly script: string; readonly few?: true }> = {
  'trdr pnl --out': {
    script: '"$NODE" "$PROGRAM" pnl --file "$LIST" --out "$DIR/out.ndjson" --fresh -y',
  },
  'trdr pnl --out, CSV': {
    script: '"$NODE" "$PROGRAM" pnl --file "$LIST" --out "$DIR/out.csv" --fresh -y',
  },
  'trdr pnl > file': { script: '"$NODE" "$PROGRAM" pnl --file "$LIST" -y > "$DIR/piped"' },
  'curl and jq, one batch per call': {
    script: `while mapfile -t -n 100 h && ((\${#h[@]})); do jq -nc '{handles:$ARGS.positional}' --args "\${h[@]}" | ${curl} -H 'content-type: application/json' -d @- "$TRDR_BASE_URL/v2/user/handles/pnl" | jq -c '.entries[]'; done < "$LIST" > "$DIR/looped"`,
  },
  'curl and jq, one handle per call': {
    script: `while read -r h; do ${curl} "$TRDR_BASE_URL/v2/user/handle/$h/pnl" | jq -c .; done < <(head -n "$FEW" "$LIST") > "$DIR/looped"`,
    few: true,
  },
};

async function compare(rounds: number, count: number, program: string): Promise<void> {
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
      ...{ NODE: process.execPath, PROGRAM: program, LIST: list, FEW: String(FEW) },
    };
    const results = new Map<string, Measured[]>(Object.keys(loops).map((name) => [name, []]));
    // Run once before measuring, because the sandbox generates its data on first use.
    await measure(loops['trdr pnl > file']?.script ?? ':', given, folder);
    for (let round = 0; round < rounds; round++) {
      for (const [name, { script }] of Object.entries(loops)) {
        results.get(name)?.push(await measure(script, given, folder));
      }
    }
    const lines = Object.entries(loops).map(([name, { few }]) => {
      const all = results.get(name) ?? [];
      const asked = few ? Math.min(FEW, count) : count;
      const cpu = median(all.map(({ cpuMs }) => cpuMs)) / asked;
      const rate = asked / (median(all.map(({ ms }) => ms)) / 1000);
      const mb = Math.max(...all.map((one) => one.mb));
      return `${name.padEnd(30)} ${cpu.toFixed(3).padStart(8)} ms CPU per handle  ${rate.toFixed(0).padStart(7)} handles/s  ${mb.toFixed(0).padStart(4)} MB`;
    });
    process.stdout.write(`${count} handles, median of ${rounds}\n${lines.join('\n')}\n`);
  } finally {
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

const [first, count = '2000', program = 'bin/trdr.js'] = process.argv.slice(2);
if (first === '--serve') await serve(Number(count));
else await compare(Number(first ?? 5), Number(count), resolve(program));
