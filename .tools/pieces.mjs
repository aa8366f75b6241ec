// Builds the program's files. One pass splits the sources at their dynamic imports; a second converts each
// piece to CommonJS, which Node starts faster than ES modules. Pieces that are needed together are combined
// in one file, because opening a file costs more than its contents; pieces that are not needed together are
// in different files, because every byte of a file is read.
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { build, transform } from 'esbuild';
import { root, version } from './bundle.mjs';
import { cliTable } from './cli-table3.mjs';

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
  loader: { '.md': 'text' },
  outExtension: { '.js': '.cjs' },
  legalComments: 'none',
  logLevel: 'warning',
};

/** The file that every run loads. It has the index of all combined pieces. */
const PROGRAM = 'program.cjs';
/** Pieces larger than this are packages that few commands need; they remain separate files. */
const LARGE = 64 * 1024;

/**
 * The combined files. Each has the pieces that its `modules` need and the pieces whose path matches its `sources`. A piece that
 * fits several files is in the first of them. All other pieces that more than two commands share are in the last file.
 */
const combined = {
  // Plain text is printed without it.
  'display-width.cjs': { sources: /^src\/output\/terminal\/display-width\.ts$/ },
  // Cached answers are printed without schemas. No lookup needs those of tails, authors and callers.
  'schemas.cjs': {
    sources:
      /^(src\/contract\/(records\/(?!tail-run|caller|position)|endpoint|envelope|errors|field|frames|openapi|paths)|.*node_modules\/zod\/)/,
  },
  [PROGRAM]: {
    modules: [
      'src/cli/process.ts',
      'src/cli/run/open-run.ts',
      'src/cli/commands/whois.ts',
      'src/output/format/printer.ts',
      'src/output/sink.ts',
      'src/output/terminal/style.ts',
    ],
  },
  'table.cjs': { modules: ['src/output/format/table-printer.ts'] },
  'price.cjs': { modules: ['src/cli/commands/price.ts'] },
  // A run that finds all answers in the cache opens no connection.
  'service.cjs': {
    modules: ['src/cli/run/connect.ts', 'src/core/http/exchange.ts', 'src/state/people/writing.ts'],
  },
  'shared.cjs': {},
};

/**
 * Each module of the contract is a piece that runs on first use, because schemas are expensive to create and
 * a run needs few of them.
 */
const lazyFolder = 'src/contract';
/** The same for the width of text beyond ASCII: its patterns take longer to compile than a table to print. */
const displayWidth = 'src/output/terminal/display-width.ts';

const lazyModules = () => [
  { in: displayWidth, out: 'display-width' },
  ...readdirSync(join(root, lazyFolder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({
      in: join(lazyFolder, name),
      out: `contract-${name.slice(0, -3).replaceAll(sep, '-')}`,
    })),
];

/** Returns the texts of the program's files by name, and the sources that they contain. */
export async function makePieces() {
  const program = await build({
    ...options,
    entryPoints: [{ in: 'src/cli/process.ts', out: 'process' }, ...lazyModules()],
    splitting: true,
    format: 'esm',
    chunkNames: '[name]-[hash]',
    plugins: [leaveOut, cliTable],
  });
  const pieces = Object.fromEntries(
    Object.entries(program.metafile.outputs).map(([path, piece]) => [basename(path), piece]),
  );
  for (const name of unusedPieces(pieces)) delete pieces[name];
  const fileOf = assignPieces(pieces);
  const codes = new Map(
    await Promise.all(
      program.outputFiles
        .filter(({ path }) => pieces[basename(path)])
        .map(async ({ path, text }) => [basename(path), await toPiece(text)]),
    ),
  );
  const texts = {};
  for (const name of [...codes.keys()].sort()) {
    const file = fileOf.get(name) ?? name;
    texts[file] = `${texts[file] ?? ''}"${name}":${codes.get(name)},\n`;
  }
  for (const [file, functions] of Object.entries(texts)) {
    const table = `{\n${functions}}`;
    texts[file] =
      file === PROGRAM ? programFile(fileOf, table) : `"use strict";\nmodule.exports = ${table};\n`;
  }
  const digest = createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 16);
  const entries = await buildEntries(digest);
  for (const { path, text } of entries.outputFiles) texts[basename(path)] = text;
  return { texts, inputs: [program, entries].flatMap(({ metafile }) => sourcesOf(metafile)) };
}

/** The sources that contributed code; others were read but removed by tree shaking. */
export const sourcesOf = ({ outputs }) =>
  Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [path] : [],
    ),
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
          onResolve({ filter: /^\.\/process\.ts$/ }, () => ({
            path: 'process',
            namespace: 'program',
          }));
          onLoad({ filter: /./, namespace: 'program' }, () => ({
            contents: `const { openProgram } = require('./src/cli/compile-cache.ts');
              module.exports = openProgram(__dirname, '${digest}', require)('./${PROGRAM}')('process.cjs');`,
            resolveDir: root,
          }));
        },
      },
    ],
  });

/**
 * Modules that packages load and trdr does not use. undici: HTTP/2 and streamed bodies; it checks its own state with node:assert,
 * which a function replaces. conf: the signal handlers of atomically, which would send a signal again that the program has already
 * handled. commander: programs as commands, for which each start would load node:child_process (5 % of its instructions).
 */
const unused = [
  { by: '/atomically/', path: /^when-exit$/, instead: '() => {}' },
  { by: '/node_modules/commander/', path: /^node:child_process$/, instead: '{}' },
  {
    by: '/undici/',
    path: /^node:assert$/,
    instead:
      '(value, message) => { if (!value) throw new Error(message ?? "undici: assertion failed"); }',
  },
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

/** The names of the pieces that no piece imports; they are left out. */
function unusedPieces(pieces) {
  const used = new Set(
    Object.values(pieces).flatMap(({ imports }) => imports.map(({ path }) => basename(path))),
  );
  return Object.keys(pieces).filter((name) => name !== 'process.cjs' && !used.has(name));
}

/**
 * Code that only tails and runs with a shared store need. It is never in `shared.cjs`, so that a lookup does
 * not load it.
 */
const separateCode = /^src\/(cli\/)?(store|tail)\//;

/** Returns the combined file of each piece; pieces without one remain files of their own. */
function assignPieces(pieces) {
  function closureOf(name, seen = new Set()) {
    if (seen.has(name)) return seen;
    seen.add(name);
    for (const { path, kind } of pieces[name].imports) {
      if (kind === 'import-statement' && pieces[basename(path)]) closureOf(basename(path), seen);
    }
    return seen;
  }
  const hasSource = (name, pattern) =>
    Object.keys(pieces[name].inputs).some((path) => pattern.test(path));
  const fileOf = new Map();
  const entries = Object.entries(pieces).filter(([, { entryPoint }]) => entryPoint !== undefined);
  for (const [file, { sources, modules = [] }] of Object.entries(combined)) {
    const chosen = sources ? Object.keys(pieces).filter((name) => hasSource(name, sources)) : [];
    for (const [name, { entryPoint }] of entries) {
      if (modules.includes(entryPoint)) chosen.push(...closureOf(name));
    }
    for (const name of chosen) if (!fileOf.has(name)) fileOf.set(name, file);
  }
  const users = new Map();
  for (const [name, { entryPoint }] of entries) {
    if (entryPoint.startsWith(lazyFolder)) {
      if (!fileOf.has(name)) fileOf.set(name, PROGRAM);
      continue;
    }
    for (const used of closureOf(name)) users.set(used, (users.get(used) ?? 0) + 1);
  }
  for (const [name, count] of users) {
    const isCommon = count > 2 && pieces[name].bytes < LARGE && !hasSource(name, separateCode);
    if (isCommon && !fileOf.has(name)) fileOf.set(name, 'shared.cjs');
  }
  return fileOf;
}

/**
 * Converts a piece to a function `(give, require)`. The function passes getters of its exports to `give`, and loads other pieces
 * by name with `require`. The CommonJS wrapper of esbuild would be a third of a small piece.
 */
async function toPiece(text) {
  // With `import()`, Node would return the exports of a CommonJS file as `default`; `require` does not.
  const supported = { 'dynamic-import': false };
  const { code } = await transform(text, { format: 'cjs', target, supported });
  const piece = code
    .replace(
      /__export\(stdin_exports, (\{[^}]*\})\);\nmodule\.exports = __toCommonJS\(stdin_exports\);/,
      'give($1);',
    )
    .replace(/__toESM\(require\("(\.\/[^"]+)"\)\)/g, 'require.run("$1")');
  // Remove the helpers of esbuild, which are no longer used.
  const short = await transform(piece, { format: 'iife', treeShaking: true, target, minify: true });
  const [, body] = /^(?:"use strict";)?\(\(\)=>\{(.*)\}\)\(\);\n$/s.exec(short.code) ?? [];
  if (body === undefined || /\b(stdin_exports|module\.exports)\b/.test(body))
    throw new Error('cannot convert a piece: the output of esbuild has another form than expected');
  // A single character beyond ASCII makes V8 store the whole file with two bytes per character, which is slower.
  const ascii = body.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  // Not an arrow function: V8 parses arrow functions twice before they are called.
  return `function(give,require){${ascii}}`;
}

/**
 * The file with the index of all pieces. Requiring a piece returns an object without properties of its own: the first access falls
 * through to its prototype, which loads the file of the piece and runs it. From then on the object has the getters that the piece gave.
 */
const programFile = (fileOf, own) => `"use strict";
const files = ${JSON.stringify(Object.fromEntries([...fileOf].filter(([, file]) => file !== PROGRAM)))};
const own = ${own};
const pieces = {};
const piece = (name) => pieces[name] ??= create(name);
function create(name) {
  let hasRun = false;
  const exports = Object.create(new Proxy({}, { get: (_, key) => hasRun ? undefined : run()[key] }));
  function give(getters) {
    for (const key in getters) Object.defineProperty(exports, key, { get: getters[key], enumerable: true });
  }
  function run() {
    if (hasRun) return exports;
    hasRun = true;
    const { [name]: start } = own[name] ? own : require('./' + (files[name] ?? name));
    start(give, find);
    return exports;
  }
  return { exports, run };
}
const find = (name) => name.startsWith('./') ? piece(name.slice(2)).exports : require(name);
find.run = (name) => piece(name.slice(2)).run();
module.exports = (name) => piece(name).exports;
`;
