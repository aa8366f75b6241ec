// Builds dist/: one pass splits the program along its dynamic imports, a second turns each piece into
// CommonJS, which Node starts faster than ES modules. Help texts and man pages are written beside it.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build, transform } from 'esbuild';
import { load, root, version } from './bundle.mjs';

const dist = join(root, 'dist');
const write = (path, text) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

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
  legalComments: 'none',
  logLevel: 'warning',
});

rmSync(dist, { recursive: true, force: true });
for (const file of split.outputFiles) {
  // Node gives the whole of a CommonJS file as its default when it is imported; required, each name is its own.
  const supported = { 'dynamic-import': false };
  const options = { format: 'cjs', target: 'node20.18', minify: true, platform: 'node', supported };
  write(file.path, (await transform(file.text, options)).code);
}

const { helpFiles, manTexts } = await load('src/cli/manual.ts');
for (const [name, text] of Object.entries(await helpFiles())) write(join(dist, 'help', name), text);
for (const [name, text] of Object.entries(await manTexts())) write(join(dist, 'man', name), text);
