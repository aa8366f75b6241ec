// Measures `whois` of people who are kept, out of a book of many: the whole command, without its start. The start is a run
// with one subject. Then measures the memory of longer and longer input. Needs the built program and bash.
//
//   npm run build && npx esbuild test/bench/lookups.ts --bundle --packages=external --platform=node --format=esm \
//     --outfile=node_modules/.bench/lookups.mjs && node node_modules/.bench/lookups.mjs [ROUNDS] [SUBJECTS] [LINES] [PEOPLE] [PROGRAM]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PeopleBook } from '../../src/state/people/book.ts';
import { user } from '../e2e/records.ts';
import { envIn, type Measured, measure, median, print } from './measure.ts';

const baseUrl = 'http://127.0.0.1:9';
const key = 'trdr_live_only0for0measuring';
const NODE_START_RUNS = 9;

const hex = (index: number, digits: number): string => index.toString(16).padStart(digits, '0');
/** Spreads the people over the files as real addresses would. */
const walletAt = (index: number): string =>
  `0x${hex((index * 2_654_435_761) % 2 ** 32, 8)}${hex(index, 32)}`;
const userAt = (index: number) => ({
  ...user,
  id: `${hex((index * 2_654_435_761) % 2 ** 32, 8)}-e2bb-4255-8caf-${hex(index, 12)}`,
  handle: `Trader_${index}`,
  bio: 'b'.repeat(index % 400),
  solanaAddress: null,
  evmAddress: walletAt(index),
});

/** Keeps the people as lookups of their handles do. */
async function fillBook(dir: string, count: number): Promise<void> {
  const book = new PeopleBook({ dir, baseUrl, key });
  const time = Date.now();
  for (let from = 0; from < count; from += 20_000) {
    const people = Array.from({ length: Math.min(20_000, count - from) }, (_, at) => {
      const record = userAt(from + at);
      const asked = { type: 'handle', normal: record.handle.toLowerCase() } as const;
      return { time, id: record.id, identity: record, record, asked };
    });
    await book.keep(people);
  }
}

const [
  rounds = '7',
  count = '10000',
  lines = '1000000',
  people = '200000',
  program = 'bin/trdr.js',
] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'trdr-bench-'));

try {
  await fillBook(folder, Number(people));
  const step = Math.max(1, Math.floor(Number(people) / Number(count)));
  const chosen = Array.from({ length: Number(count) }, (_, index) => index * step);
  for (const [name, line] of [
    ['handles', (index: number) => `Trader_${index}\n`],
    ['wallets', (index: number) => `${walletAt(index)}\n`],
  ] as const) {
    writeFileSync(join(folder, `${name}-one`), line(chosen.at(-1) ?? 0));
    writeFileSync(join(folder, `${name}-all`), chosen.map(line).join(''));
  }
  const env = {
    ...envIn(folder, { url: baseUrl, key }),
    ...{ NODE: process.execPath, PROGRAM: resolve(program) },
  };
  const lookUp = (input: string) =>
    `"$NODE" "$PROGRAM" whois ${input} -o ndjson --max-age 1d > "$DIR/out"`;
  const file = (name: string) => lookUp(`--file "$DIR/${name}"`);
  const repeated = (length: number) =>
    `set -o pipefail; while cat "$DIR/handles-all"; do :; done 2> /dev/null | head -${length} | ${lookUp('-')}`;

  const nodes: number[] = [];
  for (let round = 0; round < NODE_START_RUNS; round++)
    nodes.push((await measure(`"$NODE" -e 0`, env, folder)).ms);
  print(`start of node alone: ${median(nodes).toFixed(0)} ms; ${people} people in the book`);

  for (const names of ['handles', 'wallets']) {
    const starts: Measured[] = [];
    const runs: Measured[] = [];
    // Run once before measuring, because the first run saves the compiled code.
    await measure(file(`${names}-all`), env, folder);
    for (let round = 0; round < Number(rounds); round++) {
      starts.push(await measure(file(`${names}-one`), env, folder));
      runs.push(await measure(file(`${names}-all`), env, folder));
    }
    report(names, starts, runs);
  }
  for (const length of [Number(lines) / 10, Number(lines)]) {
    const run = await measure(repeated(length), env, folder);
    const each = (length / run.ms) * 1000;
    print(`${length} lines from a pipe: ${each.toFixed(0)}/s, ${run.mb.toFixed(0)} MB`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function report(names: string, starts: readonly Measured[], runs: readonly Measured[]): void {
  const beyondStart = (value: (run: Measured) => number) =>
    median(runs.map(value)) - median(starts.map(value));
  const rate = (Number(count) - 1) / (beyondStart(({ ms }) => ms) / 1000);
  const cpu = (beyondStart(({ cpuMs }) => cpuMs) / (Number(count) - 1)) * 1000;
  const mb = (all: readonly Measured[]) => Math.max(...all.map((run) => run.mb)).toFixed(0);
  const start = median(starts.map(({ ms }) => ms)).toFixed(1);
  print(`one of the ${names}: ${start} ms, ${mb(starts)} MB`);
  print(
    `${count} ${names}, median of ${rounds}: ${rate.toFixed(0)}/s after the start, ` +
      `${cpu.toFixed(0)} us CPU each, ${mb(runs)} MB`,
  );
}
