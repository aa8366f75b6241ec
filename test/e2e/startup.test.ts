import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { some } from '../repeats.ts';
import {
  type Home,
  openHome,
  type RunOptions,
  shiftedClock,
  trdr,
  withSandbox,
} from './harness.ts';
import { program } from './program.ts';

const dist = join(dirname(dirname(program)), 'dist');

/** The files of the program that a run loads, and the modules of Node that an empty script does not load. */
async function loads(args: readonly string[], { home = openHome(), ...options }: RunOptions = {}) {
  const [hook, log] = [home.at('hook.cjs'), home.at('loaded.json')];
  writeFileSync(
    hook,
    `const { writeFileSync } = require('node:fs');
const Module = require('node:module');
const [load, before, files] = [Module._load, new Set(process.moduleLoadList), []];
Module._load = function (name, parent, isMain) {
  const path = Module._resolveFilename(name, parent, isMain);
  if (path.startsWith(${JSON.stringify(dist)})) files.push(path);
  return load.apply(this, arguments);
};
process.on('exit', () => {
  const node = process.moduleLoadList.filter((name) => !before.has(name)).map((name) => name.replace(/^.* /, ''));
  writeFileSync(${JSON.stringify(log)}, JSON.stringify({ files, node }));
});
`,
  );
  const ran = await trdr(args, {
    ...options,
    home,
    // Do not use compiled code, which is loaded without Node's loader, so that the hook would miss its files.
    env: {
      ...options.env,
      NODE_DISABLE_COMPILE_CACHE: '1',
      NODE_OPTIONS: `${shiftedClock()['NODE_OPTIONS']} --require=${hook}`,
    },
  });
  expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
  const { files, node }: { files: string[]; node: string[] } = JSON.parse(
    readFileSync(log, 'utf8'),
  );
  const paths = [...new Set(files)];
  return {
    paths,
    // The file names, without the hash of the content.
    files: paths.map((path) => basename(path, '.cjs').replace(/-[0-9A-Z]{8}$/, '')),
    bytes: paths.reduce((sum, path) => sum + statSync(path).size, 0),
    node,
  };
}

/** Modules that are slow to load and that a lookup does not need. */
const heavy = [
  'http',
  'http2',
  'https',
  'tls',
  'crypto',
  'child_process',
  'zlib',
  'worker_threads',
];

const prepared = ['--version', '--help', 'whois --help', 'thesis --help', 'completion zsh'];
const loading: readonly (readonly [line: string, files: readonly string[], bytes: number])[] = [
  // All of them are printed by the start script.
  ...some(prepared, 2).map((line) => [line, ['main'], 8_000] as const),
  ['__complete words me --profile d', ['main', 'complete'], 44_000],
  // From the cache, without schemas and network.
  ['whois mira', ['main', 'program'], 259_000],
  ['whois mira --no-cache', ['main', 'program', 'schemas', 'service'], 637_000],
];

/** A text in the code of each package that only some runs need. */
const packages = {
  ora: 'Multiple concurrent spinners',
  'cli-table3': 'desiredHeight',
  conf: 'Please specify the `projectVersion` option',
  execa: 'forceKillAfterDelay',
  iovalkey: 'Connection is closed',
};

const packagesIn = (paths: readonly string[]) => {
  const codes = paths.map((path) => readFileSync(path, 'utf8'));
  return Object.entries(packages)
    .filter(([, text]) => codes.some((code) => code.includes(text)))
    .map(([name]) => name);
};

test('each of these packages is in a file of the program', () => {
  const files = readdirSync(dist).filter((name) => name.endsWith('.cjs'));
  expect(packagesIn(files.map((name) => join(dist, name)))).toEqual(Object.keys(packages));
});

test.each(loading)('"trdr %s" loads only %j', async (line, names, most) => {
  const options = { home: openHome(), sandbox: await withSandbox() };
  if (line.includes('mira')) await options.home.run(['whois', 'mira'], options);
  const { files, paths, bytes, node } = await loads(line.split(' '), options);
  expect(files).toEqual(names);
  expect(packagesIn(paths)).toEqual([]);
  expect(bytes).toBeLessThan(most);
  expect(node.filter((name) => heavy.includes(name))).toEqual([]);
  // No stream is created; only the listener for SIGUSR1.
  if (prepared.includes(line))
    expect(node.filter((name) => !name.startsWith('internal/'))).toEqual(['signal_wrap']);
});

test('a table without network loads no code of lookups, calls and lists', async () => {
  const { files, node } = await loads(['price', '-o', 'table']);
  expect(files.toSorted()).toEqual(['main', 'price', 'program', 'schemas', 'table']);
  expect(node.filter((name) => heavy.includes(name))).toEqual([]);
});

describe('the width of text beyond ASCII', () => {
  const table = async (file: string) => {
    const { files } = await loads(['pnl', '--from', file, '-o', 'table'], {
      env: { LANG: 'C.UTF-8' },
    });
    return files.includes('display-width');
  };

  test('is loaded only for a table that has such text', async () => {
    const home = openHome();
    const line = (handle: string) => `${JSON.stringify({ handle, windows: {} })}\n`;
    const [plain, wide] = [home.at('plain.ndjson'), home.at('wide.ndjson')];
    writeFileSync(plain, line('mira') + line('kyoto'));
    writeFileSync(wide, line('mira') + line('京都'));
    expect([await table(plain), await table(wide)]).toEqual([false, true]);
  });
});

describe('compiled code', () => {
  const code = (home: Home) => join(home.cache, 'code');
  const filesBelow = (folder: string) =>
    existsSync(folder)
      ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
          .map((name) => join(folder, name))
          .filter((path) => statSync(path).isFile())
      : [];
  const run = (home: Home, env = {}) =>
    trdr('price', { home, env: { NODE_DISABLE_COMPILE_CACHE: undefined, ...env } });

  test('is cached in a private folder and reused', async () => {
    const home = openHome();
    const first = await run(home);
    const kept = filesBelow(code(home)).map((path) => [path, statSync(path).mtimeMs]);
    expect(kept).not.toEqual([]);
    expect(statSync(code(home)).mode & 0o077).toBe(0);
    expect(await run(home)).toMatchObject({ exitCode: 0, stdout: first.stdout });
    expect(filesBelow(code(home)).map((path) => [path, statSync(path).mtimeMs])).toEqual(kept);
  });
});
