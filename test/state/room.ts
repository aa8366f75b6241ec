import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { execa, type Options } from 'execa';
import * as fc from 'fast-check';
import { afterAll, vi } from 'vitest';

// Processes start slowly on a machine that has much to do; nothing here depends on how fast.
vi.setConfig({ testTimeout: 120_000 });

/** Where waiting for the disk costs nothing, on systems that have such a place: these tests wait for it often. */
const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A folder for a test file; gone when its tests are over. */
export function room(): { readonly path: string; readonly under: (name: string) => string } {
  const path = mkdtempSync(join(memory, 'trdr-state-'));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  let count = 0;
  return { path, under: (name) => join(path, `${count++}-${name}`) };
}

/**
 * Runs `test/state/worker.ts` as a process of its own, and hands back what it prints. With `blocks` it can
 * write no file beyond so many half kilobytes: to it that is a disk that is full.
 */
export function workers(folder: string) {
  let built: string | undefined;
  return (words: readonly (string | number)[], options: Options = {}, blocks = 0) => {
    if (built === undefined) {
      built = join(folder, 'worker.mjs');
      buildSync({
        entryPoints: [fileURLToPath(new URL('./worker.ts', import.meta.url))],
        bundle: true,
        platform: 'node',
        format: 'esm',
        outfile: built,
        logLevel: 'error',
        external: ['conf'],
        alias: { conf: join(import.meta.dirname, '../../node_modules/conf/dist/source/index.js') },
      });
    }
    const call = [process.execPath, built, ...words.map(String)];
    const limited = ['sh', '-c', `ulimit -f ${blocks} && exec "$@"`, 'sh', ...call];
    const [command = '', ...args] = blocks > 0 ? limited : call;
    return execa(command, args, { stdin: 'ignore', ...options });
  };
}

/** Settings of every randomised test: `SEED=n` runs a failed one again. */
export const runs = (numRuns: number): fc.Parameters<unknown> => ({
  numRuns,
  ...(process.env['SEED'] ? { seed: Number(process.env['SEED']) } : {}),
});

/** Any text, the awkward ones included. */
export const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.json(),
  fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('latin1')),
);
