// Builds the program's files. One pass splits the sources at their dynamic imports; a second converts each piece to CommonJS,
// which Node starts faster than ES modules. Small shared pieces are combined in one file, because opening a file costs more
// than its contents.
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { build, transform } from 'esbuild';
import { root, version } from './bundle.mjs';

const target = 'node20.18';
/** esbuild options of every pass. */
export const options = {
  absWorkingDir: root,
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  target,
  minify: true,
  write: false,
  metafile: true,
  define: { __VERSION__: JSON.stringify(version) },
  outExtension: { '.js': '.cjs' },
  legalComments: 'none',
  logLevel: 'warning',
};

/** The file with the shared pieces. */
const PROGRAM = 'program.cjs';
/** Larger pieces are packages that few commands need; they remain separate files. */
const LARGE = 64 * 1024;

/** Modules that are imported dynamically but loaded by nearly every run; large ones remain separate files. */
const everyRun = [
  'src/cli/process.ts',
  'src/cli/create-context.ts',
  'src/cli/connect.ts',
  'src/cli/notice-limit.ts',
  'src/cli/client-notice-text.ts',
  'src/core/http/undici.ts',
  'src/output/format/printer.ts',
  'src/output/sink.ts',
  'src/output/terminal/style.ts',
];

/** Each module of the contract is a piece that runs on first use, because schemas are expensive to create and a run needs few. */
const lazyFolder = 'src/contract';
const lazyModules = () =>
  readdirSync(join(root, lazyFolder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({
      in: join(lazyFolder, name),
      out: `contract-${name.slice(0, -3).replaceAll(sep, '-')}`,
    }));

/** Returns the texts of the program's files by name, and the sources that they contain. */
export async function makePieces() {
  const program = await build({
    ...options,
    entryPoints: [{ in: 'src/cli/process.ts', out: 'process' }, ...lazyModules()],
    splitting: true,
    format: 'esm',
    chunkNames: '[name]-[hash]',
    plugins: [leaveOut],
  });
  const pieces = Object.fromEntries(
    Object.entries(program.metafile.outputs).map(([path, piece]) => [basename(path), piece]),
  );
  const shared = sharedPieces(pieces);
  const codes = await Promise.all(
    program.outputFiles.map(async ({ path, text }) => [basename(path), await toCommonJs(text)]),
  );
  codes.sort(([one], [other]) => (one < other ? -1 : 1));
  const together = registry(
    codes
      .filter(([name]) => shared.has(name))
      .map(
        ([name, code]) =>
          `"${name}":[${JSON.stringify(pieces[name].exports)},function(exports,require,module){${code}}]`,
      ),
  );
  const texts = { [PROGRAM]: together };
  for (const [name, code] of codes) {
    if (shared.has(name)) continue;
    texts[name] = code.replace(/\brequire\("\.\/([^"]+)"\)/g, (call, wanted) =>
      shared.has(wanted) ? `require("./${PROGRAM}")("${wanted}")` : call,
    );
  }
  const digest = createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 16);
  const entries = await buildEntries(digest);
  for (const { path, text } of entries.outputFiles) texts[basename(path)] = text;
  return { texts, inputs: [program, entries].flatMap(({ metafile }) => sourcesOf(metafile)) };
}

/** The sources that contributed code; others were read but removed by tree shaking. */
export const sourcesOf = ({ outputs }) =>
  Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );

/** The two self-contained entry files: they answer simple requests themselves and load the program for the rest. */
const buildEntries = (digest) =>
  build({
    ...options,
    entryPoints: { main: 'src/cli/main.ts', complete: 'src/cli/docs/complete.ts' },
    format: 'cjs',
    supported: { 'dynamic-import': false },
    plugins: [
      {
        name: 'program',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^\.\/docs\/complete\.ts$/ }, () => ({
            path: './complete.cjs',
            external: true,
          }));
          onResolve({ filter: /^\.\/process\.ts$/ }, () => ({ path: 'process', namespace: 'program' }));
          onLoad({ filter: /./, namespace: 'program' }, () => ({
            contents: `const { openProgram } = require('./src/cli/compile-cache.ts');
              module.exports = openProgram(__dirname, '${digest}')('./${PROGRAM}')('process.cjs');`,
            resolveDir: root,
          }));
        },
      },
    ],
  });

/**
 * Modules that packages load and trdr does not use: commander's external commands, and undici's HTTP/2 and streamed bodies.
 * Leaving them out saves about 10 ms at startup.
 */
const unused = [
  { by: '/commander/', path: /^node:child_process$/, instead: '{}' },
  {
    by: '/undici/',
    path: /^node:http$/,
    instead: '{ maxHeaderSize: 16384, IncomingMessage: class {} }',
  },
  {
    by: '/undici/',
    path: /\/(client-h2|web\/fetch\/body)(\.js)?$/,
    instead: '() => { throw new Error("not included in trdr"); }',
  },
];

export const leaveOut = {
  name: 'leave-out',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /./ }, ({ path, importer }) => {
      const at = unused.findIndex((each) => importer.includes(each.by) && each.path.test(path));
      return at < 0 ? undefined : { path: String(at), namespace: 'unused' };
    });
    onLoad({ filter: /./, namespace: 'unused' }, ({ path }) => ({
      contents: `module.exports = ${unused[Number(path)].instead};`,
    }));
  },
};

/** Code that only tails and runs with a shared store need: a lookup must not load it because several commands can use it. */
const separateCode = /^src\/(cli\/)?(store|tail)\//;

/** The pieces that are combined: those that every command needs, and those that more than two share. */
function sharedPieces(pieces) {
  const closureOf = (name, seen = new Set()) => {
    if (seen.has(name)) return seen;
    seen.add(name);
    for (const { path, kind } of pieces[name].imports) {
      if (kind === 'import-statement' && pieces[basename(path)]) closureOf(basename(path), seen);
    }
    return seen;
  };
  const isSeparate = (name) => Object.keys(pieces[name].inputs).some((path) => separateCode.test(path));
  const users = new Map();
  const shared = new Set();
  for (const [name, { entryPoint }] of Object.entries(pieces)) {
    if (entryPoint === undefined) continue;
    const isLazy = entryPoint.startsWith(lazyFolder);
    for (const used of closureOf(name)) {
      if (!isLazy) users.set(used, (users.get(used) ?? 0) + 1);
      if (everyRun.includes(entryPoint) || (used === name && isLazy)) shared.add(used);
      else if (users.get(used) > 2 && !isSeparate(used)) shared.add(used);
    }
  }
  return new Set([...shared].filter((name) => pieces[name].bytes < LARGE));
}

async function toCommonJs(text) {
  // With `import()`, Node would return the exports of a CommonJS file as `default`; `require` does not.
  const supported = { 'dynamic-import': false };
  const { code } = await transform(text, {
    format: 'cjs',
    target,
    minify: true,
    platform: 'node',
    supported,
  });
  // A single character beyond ASCII makes V8 store the whole file with two bytes per character, which is slower.
  const ascii = code.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return ascii.replace(/^"use strict";/, '').trimEnd();
}

/**
 * A file with several pieces. Requiring one returns getters for its exports; the first access runs the piece. V8 parses arrow
 * functions twice before they are called, so plain functions are used.
 */
const registry = (parts) => `"use strict";
const outside = require, made = {}, parts = {
${parts.join(',\n')}
};
const load = (name) => {
  if (made[name]) return made[name];
  const [names, run] = parts[name];
  let module;
  const running = () => {
    if (!module) run((module = { exports: {} }).exports, inside, module);
    return module.exports;
  };
  const lazy = made[name] = Object.defineProperty({}, '__esModule', { value: true });
  for (const key of names) Object.defineProperty(lazy, key, { get: () => running()[key], enumerable: true });
  return lazy;
};
const inside = (name) => Object.hasOwn(parts, name.slice(2)) ? load(name.slice(2)) : outside(name);
module.exports = load;
`;
