// Measures `whois` of cached subjects: the whole command, without its start. The start is a run with one subject. Then
// measures the memory of longer and longer input. Needs the built program and bash.
//
//   npm run build && npx esbuild test/bench/lookups.ts --bundle --packages=external --platform=node --format=esm \
//     --outfile=node_modules/.bench/lookups.mjs && node node_modules/.bench/lookups.mjs [ROUNDS] [SUBJECTS] [LINES] [PROGRAM]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openCache } from '../../src/state/cache.ts';
import { user } from '../e2e/records.ts';
import { envIn, type Measured, measure, median } from './measure.ts';

const baseUrl = 'http://127.0.0.1:9';
const key = 'trdr_live_only0for0measuring';
const userAt = (index: number) => ({
  ...user,
  id: `3b241101-e2bb-4255-8caf-${String(index).padStart(12, '0')}`,
  handle: `Trader_${index}`,
});

/** Caches the users as a lookup does: by handle and by id. */
function fillCache(dir: string, count: number): void {
  const cache = openCache({ dir, baseUrl, key, now: Date.now });
  for (let index = 0; index < count; index++) {
    const answer = { status: 200, time: Date.now(), record: userAt(index) } as const;
    cache.put('user.handle', `trader_${index}`, answer);
    cache.put('user.id', answer.record.id, answer);
  }
}

const [rounds = '7', count = '10000', lines = '1000000', program = 'bin/trdr.js'] =
  process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'trdr-bench-'));
try {
  fillCache(folder, Number(count));
  const handles = Array.from({ length: Number(count) }, (_, index) => `Trader_${index}\n`);
  writeFileSync(join(folder, 'one'), handles[0] ?? '');
  writeFileSync(join(folder, 'all'), handles.join(''));
  const env = {
    ...envIn(folder, { url: baseUrl, key }),
    ...{ NODE: process.execPath, PROGRAM: resolve(program) },
  };
  const lookUp = (input: string) =>
    `"$NODE" "$PROGRAM" whois ${input} -o ndjson --max-age 1d > "$DIR/out"`;
  const file = (name: string) => lookUp(`--file "$DIR/${name}"`);
  const repeated = (length: number) =>
    `set -o pipefail; while cat "$DIR/all"; do :; done 2> /dev/null | head -${length} | ${lookUp('-')}`;

  const starts: Measured[] = [];
  const runs: Measured[] = [];
  // Run once before measuring, because the first run saves the compiled code.
  await measure(file('all'), env, folder);
  for (let round = 0; round < Number(rounds); round++) {
    starts.push(await measure(file('one'), env, folder));
    runs.push(await measure(file('all'), env, folder));
  }
  const beyondStart = (value: (run: Measured) => number) =>
    median(runs.map(value)) - median(starts.map(value));
  const rate = (Number(count) - 1) / (beyondStart(({ ms }) => ms) / 1000);
  const cpu = (beyondStart(({ cpuMs }) => cpuMs) / (Number(count) - 1)) * 1000;
  const mb = Math.max(...runs.map((run) => run.mb));
  process.stdout.write(
    `${count} subjects, median of ${rounds}: ${rate.toFixed(0)}/s after the start, `,
  );
  process.stdout.write(`${cpu.toFixed(0)} us CPU per subject, ${mb.toFixed(0)} MB\n`);
  for (const length of [Number(lines) / 10, Number(lines)]) {
    const run = await measure(repeated(length), env, folder);
    const each = (length / run.ms) * 1000;
    process.stdout.write(
      `${length} lines from a pipe: ${each.toFixed(0)}/s, ${run.mb.toFixed(0)} MB\n`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
