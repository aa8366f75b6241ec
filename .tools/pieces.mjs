// Makes the program's files: one pass splits the sources along their dynamic imports, a second turns each
// piece into CommonJS, which Node starts faster than ES modules. Small pieces that several commands share
// are put into one file: finding, reading and compiling a file costs a start more than what stands in it.
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { build, transform } from 'esbuild';
import { root, version } from './bundle.mjs';

const target = 'node20.18';
/** How all of it is bundled. */
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

/** The file of the pieces that are shared. */
const PROGRAM = 'program.cjs';
/** Larger pieces are the packages that few commands need: they stay apart. */
const LARGE = 64 * 1024;

/** What is loaded on demand, and yet by nearly every run; what is large among it stays apart all the same. */
const everyRun = [
  'src/cli/process.ts',
  'src/cli/create-context.ts',
  'src/cli/connect.ts',
  'src/cli/notices.ts',
  'src/core/http/undici.ts',
  'src/output/format/printer.ts',
  'src/output/sink.ts',
  'src/output/terminal/style.ts',
];

/**
 * Modules that are pieces of their own, so that each is run when something of it is first used: making
 * schemas takes long, and a run needs few of them.
 */
const lazyFolder = 'src/contract';
const lazyModules = () =>
  readdirSync(join(root, lazyFolder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({
      in: join(lazyFolder, name),
      out: `contract-${name.slice(0, -3).replaceAll(sep, '-')}`,
    }));

/** The program's files: their texts by name, and every source that a part of them was made of. */
export async function makePieces() {
  const program = await build({
    ...options,
    entryPoints: [{ in: 'src/cli/process.ts', out: 'process' }, ...lazyModules()],
    splitting: true,
    format: 'esm',
    chunkNames: '[name]-[hash]',
    plugins: [sparing],
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
  const doors = await makeDoors(digest);
  for (const { path, text } of doors.outputFiles) texts[basename(path)] = text;
  return { texts, inputs: [program, doors].flatMap(({ metafile }) => sourcesOf(metafile)) };
}

/** The sources of which a part is in what was made: others were read and found to be of no use. */
export const sourcesOf = ({ outputs }) =>
  Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );

/** The two files that answer without the program, and open it where they can't: each whole in itself. */
const makeDoors = (digest) =>
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
 * What packages load and trdr has no use for: programs as commands of commander's, and undici's HTTP/2 and
 * streamed bodies. Together they would take some 10 ms of a start.
 */
const spared = [
  { by: '/commander/', path: /^node:child_process$/, instead: '{}' },
  {
    by: '/undici/',
    path: /^node:http$/,
    instead: '{ maxHeaderSize: 16384, IncomingMessage: class {} }',
  },
  {
    by: '/undici/',
    path: /\/(client-h2|web\/fetch\/body)(\.js)?$/,
    instead: '() => { throw new Error("left out of trdr"); }',
  },
];

export const sparing = {
  name: 'sparing',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /./ }, ({ path, importer }) => {
      const at = spared.findIndex((each) => importer.includes(each.by) && each.path.test(path));
      return at < 0 ? undefined : { path: String(at), namespace: 'spared' };
    });
    onLoad({ filter: /./, namespace: 'spared' }, ({ path }) => ({
      contents: `module.exports = ${spared[Number(path)].instead};`,
    }));
  },
};

/** The pieces that go into one file: what every command needs, and what more than two of them share. */
function sharedPieces(pieces) {
  const closureOf = (name, seen = new Set()) => {
    if (seen.has(name)) return seen;
    seen.add(name);
    for (const { path, kind } of pieces[name].imports) {
      if (kind === 'import-statement' && pieces[basename(path)]) closureOf(basename(path), seen);
    }
    return seen;
  };
  const users = new Map();
  const shared = new Set();
  for (const [name, { entryPoint }] of Object.entries(pieces)) {
    if (entryPoint === undefined) continue;
    const isLazy = entryPoint.startsWith(lazyFolder);
    for (const used of closureOf(name)) {
      if (!isLazy) users.set(used, (users.get(used) ?? 0) + 1);
      if (everyRun.includes(entryPoint) || (used === name && isLazy) || users.get(used) > 2) shared.add(used);
    }
  }
  return new Set([...shared].filter((name) => pieces[name].bytes < LARGE));
}

async function toCommonJs(text) {
  // Node gives the whole of a CommonJS file as its default when it is imported; required, each name is its own.
  const supported = { 'dynamic-import': false };
  const { code } = await transform(text, {
    format: 'cjs',
    target,
    minify: true,
    platform: 'node',
    supported,
  });
  // One character beyond ASCII makes Node hold the whole file in two bytes a character, and read it slower.
  const ascii = code.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return ascii.replace(/^"use strict";/, '').trimEnd();
}

/**
 * A file of several pieces. Whoever asks for one gets its exports as getters, and the first that is read
 * runs it. V8 reads the text of an arrow function twice before it is called, hence the plain functions.
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
