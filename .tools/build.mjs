// Builds dist/: one pass splits the program along its dynamic imports, a second turns each piece into
// CommonJS, which Node starts faster than ES modules.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

rmSync(dist, { recursive: true, force: true });
const split = await build({
  absWorkingDir: root,
  entryPoints: { main: 'src/cli/main.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.18',
  minify: true,
  write: false,
  define: { __VERSION__: JSON.stringify(version) },
  outExtension: { '.js': '.cjs' },
  chunkNames: '[name]-[hash]',
  logLevel: 'warning',
});

const { mkdirSync } = await import('node:fs');
mkdirSync(dist, { recursive: true });
for (const file of split.outputFiles) {
  const { code } = await transform(file.text, {
    format: 'cjs',
    target: 'node20.18',
    minify: true,
    platform: 'node',
  });
  writeFileSync(file.path, code);
}
