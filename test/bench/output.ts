// Compares writers in one run: each case in a separate process, rounds interleaved, medians of ratios.
//
//   npx esbuild test/bench/output.ts --bundle --packages=external --platform=node --format=esm \
//     --outfile=node_modules/.bench/output.mjs && node node_modules/.bench/output.mjs [ROUNDS] [ROWS]
import { spawnSync } from 'node:child_process';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createPrinter } from '../../src/output/format/printer.ts';
import type { PrinterOptions } from '../../src/output/format/printing.ts';
import { createSink } from '../../src/output/sink.ts';
import type { View } from '../../src/output/view.ts';
import { type Measured, median } from './measure.ts';

interface Row {
  readonly [name: string]: unknown;
}

const names = [
  ...['ana', 'Mert 🦀', '柴犬 holder', 'satoshi, the first'],
  ...['quote "q" mark', '=SUM(A1)', 'plain name', 'Zoë'],
];

/** A record as a bulk lookup prints it. */
const rowAt = (index: number): Row => ({
  subject: `handle_${index}`,
  found: true,
  id: '3b241101-e2bb-4255-8caf-4136c566a962',
  handle: `handle_${index}`,
  name: names[index % names.length],
  bio: index % 3 === 0 ? null : 'I post what I hold, and I hold what I post.\nNot advice.',
  twitter: `https://x.com/handle_${index}`,
  solanaAddress: '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU',
  evmAddress: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  pnl: { netUsd: index * 1.25 - 5000, trades: index % 977 },
});

const fields = [
  ...Object.keys(rowAt(0)).filter((name) => name !== 'pnl'),
  'pnl.netUsd',
  'pnl.trades',
];
const look = { utc: true, unicode: true, now: Date.now, size: () => ({ width: 80 }) };
const view: View<Row> = { columns: [], fields: () => fields, empty: '' };

async function ours(format: PrinterOptions<Row>['format'], rows: number) {
  const sink = createSink(process.stdout);
  const printer = await createPrinter<Row>({ ...look, sink, view, format });
  for (let index = 0; index < rows; index++) {
    const wait = printer.write(rowAt(index));
    if (wait) await wait;
  }
  await printer.end();
}

async function raw(rows: number) {
  const sink = createSink(process.stdout);
  const printer = await createPrinter<Row>({ ...look, sink, view, format: 'ndjson' });
  const lines = names.map((_, index) => Buffer.from(JSON.stringify(rowAt(index))));
  for (let index = 0; index < rows; index++) {
    const line = lines[index % lines.length];
    const wait = line && printer.writeRaw?.(line);
    if (wait) await wait;
  }
  await printer.end();
}

async function csvStringify(rows: number) {
  const { stringify } = await import('csv-stringify');
  const columns = fields.map((key) => ({ key }));
  async function* source() {
    for (let index = 0; index < rows; index++) yield rowAt(index);
  }
  await pipeline(
    source,
    stringify({ header: true, columns, escape_formulas: true }),
    process.stdout,
  );
}

/** The simplest writer: one write per row, waiting for `drain`. */
async function rowByRow(rows: number) {
  for (let index = 0; index < rows; index++) {
    if (process.stdout.write(`${JSON.stringify(rowAt(index))}\n`)) continue;
    await new Promise<void>((resolve) => process.stdout.once('drain', resolve));
  }
}

const cases: Record<string, (rows: number) => Promise<void>> = {
  csv: (rows) => ours('csv', rows),
  'csv-stringify': csvStringify,
  ndjson: (rows) => ours('ndjson', rows),
  'ndjson, one write per row': rowByRow,
  'ndjson, raw': raw,
  'rows alone': async (rows) => {
    let sum = 0;
    for (let index = 0; index < rows; index++) sum += Object.keys(rowAt(index)).length;
    process.stdout.write(`${sum}\n`);
  },
};

const here = fileURLToPath(import.meta.url);
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;

type Usage = Pick<Measured, 'ms' | 'mb'>;

/** Runs one case with a pipe to `reader`. */
function run(name: string, rows: number, reader: string): Usage {
  const command = `"$0" "$1" --case "$2" "$3" | ${reader} > /dev/null`;
  const child = spawnSync('sh', ['-c', command, process.execPath, here, name, String(rows)], {
    env,
    encoding: 'utf8',
  });
  const [ms, mb] = child.stderr.trim().split(' ').map(Number);
  if (ms === undefined || mb === undefined || Number.isNaN(mb)) throw new Error(child.stderr);
  return { ms, mb };
}

function compare(rounds: number, rows: number) {
  const results = new Map<string, Usage[]>(Object.keys(cases).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of Object.keys(cases)) results.get(name)?.push(run(name, rows, 'cat'));
  }
  const lines = [...results].map(([name, all]) => {
    const base =
      results.get(name.startsWith('csv') ? 'csv-stringify' : 'ndjson, one write per row') ?? [];
    const ratio = median(all.map(({ ms }, round) => (base[round]?.ms ?? 0) / ms));
    const time = `${(median(all.map(({ ms }) => ms)) / 1000).toFixed(2)} s`;
    return `${name.padEnd(24)} ${time.padStart(9)}  ${ratio.toFixed(2).padStart(6)}x  ${Math.max(
      ...all.map(({ mb }) => mb),
    )
      .toFixed(0)
      .padStart(5)} MB`;
  });
  const stalled = ['csv', 'ndjson', 'ndjson, raw'].map((name) => {
    const { mb } = run(name, rows, '{ sleep 3; cat; }');
    return `${name.padEnd(24)} ${mb.toFixed(0).padStart(5)} MB`;
  });
  process.stdout.write(
    `${rows} rows into a pipe, median of ${rounds}; x: times as fast as csv-stringify, or as one write per row\n${lines.join('\n')}\n\nbehind a reader that stalls for 3 s\n${stalled.join('\n')}\n`,
  );
}

const [flag, name = '', count = '1000000'] = process.argv.slice(2);
if (flag === '--case') {
  const start = performance.now();
  await cases[name]?.(Number(count));
  const ms = performance.now() - start;
  process.stderr.write(`${ms.toFixed(1)} ${(process.resourceUsage().maxRSS / 1024).toFixed(1)}\n`);
} else compare(Number(flag ?? 5), Number(process.argv[3] ?? 1_000_000));
