import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { execa, type Options } from 'execa';
import * as fc from 'fast-check';
import { afterAll } from 'vitest';
import { codePoints } from '../code-points.ts';
import { repeats } from '../repeats.ts';

/** A temporary folder for a test file. */
export function room(): { readonly path: string; readonly under: (name: string) => string } {
  const path = mkdtempSync(join(tmpdir(), 'trdr-state-'));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  let count = 0;
  return { path, under: (name) => join(path, `${count++}-${name}`) };
}

/** Runs `test/state/worker.ts` in a separate process and returns its output. */
export function workers(folder: string) {
  let built: string | undefined;
  return (words: readonly (string | number)[], options: Options = {}) => {
    if (built === undefined) {
      built = join(folder, 'worker.mjs');
      buildSync({
        entryPoints: [fileURLToPath(new URL('./worker.ts', import.meta.url))],
        bundle: true,
        platform: 'node',
        format: 'esm',
        outfile: built,
        logLevel: 'error',
      });
    }
    return execa(process.execPath, [built, ...words.map(String)], { stdin: 'ignore', ...options });
  };
}

/** Options of randomized tests, a twentieth of whose runs are enough outside the soak: `SEED=n` repeats a failed one. */
export const runs = (numRuns: number): fc.Parameters<unknown> => ({
  numRuns: repeats('FUZZ_RUNS', Math.ceil(numRuns / 20), 20 * numRuns),
  ...(process.env['SEED'] ? { seed: Number(process.env['SEED']) } : {}),
});

/** Any text, including unusual ones. */
export const anyText = fc.oneof(
  codePoints(),
  fc.json(),
  fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('latin1')),
);
