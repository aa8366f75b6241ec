// Loads TypeScript files of this repository on every supported Node.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Bundles `entry` and returns its exports. */
export async function load(entry) {
  const folder = mkdtempSync(join(root, 'node_modules/.trdr-'));
  try {
    const outfile = join(folder, 'entry.cjs');
    await build({
      absWorkingDir: root,
      entryPoints: [entry],
      outfile,
      bundle: true,
      format: 'cjs',
      platform: 'node',
      target: 'node20.18',
      define: { __VERSION__: JSON.stringify(version) },
      loader: { '.md': 'text' },
      logLevel: 'warning',
    });
    return createRequire(import.meta.url)(outfile);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
