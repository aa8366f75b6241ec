// Compares handing batches to a command with starting that command alone.
//
//   npx esbuild test/bench/exec.ts --bundle --packages=external --platform=node --format=esm \
//     --outfile=node_modules/.bench/exec.mjs && node node_modules/.bench/exec.mjs [--batches 500] [--rows 100]
//
// The handoff encodes nothing here: it gathers rows and runs the command. The command is dd to /dev/null; alone, it gets the same bytes. Both run in turn, one batch each.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/base/clock.ts';
import { runCommand } from '../../src/tail/exec/command.ts';
import { CommandWriter } from '../../src/tail/exec/command-writer.ts';
import { Handoff } from '../../src/tail/exec/delivery.ts';
import { durations, print } from './measure.ts';

const { values } = parseArgs({
  options: {
    batches: { type: 'string', default: '500' },
    rows: { type: 'string', default: '100' },
  },
});
const [batches, rows] = [Number(values.batches), Number(values.rows)];
const folder = mkdtempSync(join(tmpdir(), 'trdr-bench-'));
const line = Buffer.from(
  `${JSON.stringify({ id: 'x'.repeat(36), thesis: 'text '.repeat(200) })}\n`,
);
const program = 'dd of=/dev/null status=none';

const alone = () =>
  new Promise<void>((resolve) => {
    const [file = '', ...words] = program.split(' ');
    const child = spawn(file, words, { stdio: ['pipe', 'inherit', 'inherit'] });
    child.once('exit', () => resolve());
    child.stdin.end(Buffer.concat(Array.from({ length: rows }, () => line)));
  });

const io = { env: process.env, cwd: folder, platform: process.platform };
const courier = new Handoff({
  ...{ clock: systemClock, random: Math.random },
  run: (batch, attempt) => runCommand(program, io, batch, attempt),
  deadLetter() {},
  notify() {},
  ...{ tries: 1, forgetful: false },
});
const handoff = new CommandWriter({
  ...{ clock: systemClock, encode: () => line },
  deliver: (batch, stop) => courier.deliver(batch, stop),
  ...{ batch: rows, lingerMs: 1_000, forgetful: false, stop: new AbortController().signal },
});

let id = 0;
const through = async () => {
  const row = () => ({ id: `${id++}`, at: id, record: {}, raw: null });
  handoff.write(Array.from({ length: rows }, row));
  await handoff.flush();
};

const times: Record<'alone' | 'through', number[]> = { alone: [], through: [] };
for (let round = -20; round < batches; round++) {
  for (const [name, run] of [
    ['alone', alone],
    ['through', through],
  ] as const) {
    const began = performance.now();
    await run();
    if (round >= 0) times[name].push(performance.now() - began);
  }
}
rmSync(folder, { recursive: true, force: true });
for (const [name, list] of Object.entries(times)) {
  print(`${name}: ${durations(list, 0.5, 0.95, 0.99)}`);
}
