import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const src = join(root, 'src');

/** The folders that each folder may import. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  base: [],
  contract: ['base'],
  core: ['contract', 'base'],
  output: ['contract', 'base'],
  sandbox: ['contract', 'base'],
  state: ['contract', 'base'],
  store: ['contract', 'base'],
  tail: ['core', 'output', 'store', 'contract', 'base'],
  input: ['core', 'output', 'contract', 'base'],
  verify: ['input', 'tail', 'core', 'output', 'contract', 'base'],
  cli: ['input', 'verify', 'output', 'tail', 'store', 'state', 'core', 'contract', 'base'],
};

/** The files that may import each dependency. Schemas are used wherever outside data is parsed. */
const vendorFiles: Readonly<Record<string, RegExp>> = {
  zod: /^/,
  commander: /^cli\//,
  execa: /^(cli\/(settings|run)|tail\/exec)\//,
  iovalkey: /^store\//,
  undici: /^core\/http\//,
  ws: /^tail\/socket\/|^sandbox\//,
  chalk: /^output\//,
  'cli-table3': /^output\//,
  conf: /^state\//,
  ora: /^output\//,
  'string-width': /^output\//,
  '@noble/hashes': /^(base|core)\//,
  '@scure/base': /^(core|sandbox)\//,
};

/** The only files that may import the sandbox: for --sandbox, and for "trdr sandbox". */
const sandboxEntries = ['cli/run/embedded.ts', 'cli/commands/sandbox.ts'];

interface Import {
  readonly from: string;
  readonly to: string;
  /** Whether the import is dynamic. */
  readonly lazy: boolean;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? filesBelow(join(folder, entry.name))
      : entry.name.endsWith('.ts')
        ? [join(folder, entry.name)]
        : [],
  );
}

const imports: Import[] = filesBelow(src).flatMap((file) => {
  const text = readFileSync(file, 'utf8');
  const named = text.matchAll(
    /^(?:import |export |\} )[^'";=]*?from '([^']+)';|\bimport\(\s*'([^']+)'/gm,
  );
  return [...named].map(([, still, lazy]) => ({
    from: relative(src, file),
    to: still ?? lazy ?? '',
    lazy: still === undefined,
  }));
});

const folderOf = (path: string) => path.split('/')[0] ?? '';
const own = imports.filter(({ to }) => to.startsWith('.'));
const vendors = imports.filter(({ to }) => !to.startsWith('.') && !to.startsWith('node:'));

describe('the folders', () => {
  it('are listed here', () => {
    const folders = readdirSync(src, { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    expect(folders.map(({ name }) => name).filter((name) => !(name in allowed))).toEqual([]);
  });

  it('import in one direction', () => {
    const violations = own.filter(({ from, to }) => {
      const target = folderOf(normalize(join(dirname(from), to)));
      if (sandboxEntries.includes(from) && target === 'sandbox') return false;
      return target !== folderOf(from) && !allowed[folderOf(from)]?.includes(target);
    });
    expect(violations).toEqual([]);
  });

  it('import files by their complete names', () => {
    expect(own.filter(({ to }) => !/\.(ts|md)$/.test(to))).toEqual([]);
  });
});

/**
 * The folders and files of the command line, from below to above: each may import those before it. The tree names the
 * file of each command, which it loads when the command runs: these are the only arrows up.
 */
const cliRooms: readonly string[] = [
  'io.ts',
  'version.ts',
  'exit.ts',
  'agent.ts',
  'command-line.ts',
  'compile-cache.ts',
  'prompt.ts',
  'args',
  'settings',
  'run',
  'report-failure.ts',
  'command.ts',
  'tree.ts',
  'program',
  'docs',
  'lookup',
  'tail',
  'store',
  'lists',
  'replay',
  'pnl',
  'doctor',
  'commands',
  'run.ts',
  'process.ts',
  'main.ts',
];

describe('the folders of the command line', () => {
  const roomOf = (path: string) => path.split('/')[1] ?? '';

  it('are listed here, and all that are listed exist', () => {
    expect(readdirSync(join(src, 'cli')).sort()).toEqual([...cliRooms].sort());
  });

  it('import only what is below them', () => {
    const arrows = own
      .map(({ from, to, lazy }) => ({ from, to: normalize(join(dirname(from), to)), lazy }))
      .filter(({ from, to }) => folderOf(from) === 'cli' && folderOf(to) === 'cli')
      .filter(
        ({ from, to, lazy }) => !(from === 'cli/tree.ts' && lazy && roomOf(to) === 'commands'),
      )
      .filter(({ from, to }) => cliRooms.indexOf(roomOf(to)) > cliRooms.indexOf(roomOf(from)));
    expect(arrows).toEqual([]);
  });
});

describe('the files', () => {
  it('do not import each other in a cycle', () => {
    const targets = new Map<string, string[]>();
    for (const { from, to, lazy } of own) {
      if (!lazy)
        targets.set(from, [...(targets.get(from) ?? []), normalize(join(dirname(from), to))]);
    }
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, path: readonly string[]) => {
      if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
      if (path.includes(file) || done.has(file)) return;
      for (const next of targets.get(file) ?? []) visit(next, [...path, file]);
      done.add(file);
    };
    for (const file of targets.keys()) visit(file, []);
    expect(cycles).toEqual([]);
  });

  it('export each name once', () => {
    const filesByName = new Map<string, string[]>();
    for (const file of filesBelow(src)) {
      const exported = readFileSync(file, 'utf8').matchAll(
        /^export (?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm,
      );
      for (const name of new Set([...exported].map(([, name]) => name ?? ''))) {
        filesByName.set(name, [...(filesByName.get(name) ?? []), relative(src, file)]);
      }
    }
    expect([...filesByName].filter(([, files]) => files.length > 1)).toEqual([]);
  });
});

it('the docs name files that exist', () => {
  const files = ['src', 'test', '.tools', 'bin'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
      (name) => `/${folder}/${name}`,
    ),
  );
  const pages = readdirSync(join(root, 'docs')).filter(
    (name) => name.endsWith('.md') && name !== 'changelog.md',
  );
  const named = pages.flatMap((page) =>
    [...readFileSync(join(root, 'docs', page), 'utf8').matchAll(/`([\w./-]+\.(?:m?[jt]s))`/g)].map(
      ([, name = '']) => ({ page, name }),
    ),
  );
  expect(named.length).toBeGreaterThan(50);
  const isThere = (name: string) =>
    name.includes('NAME') || files.some((file) => file.endsWith(`/${name}`));
  expect(named.filter(({ name }) => !isThere(name))).toEqual([]);
});

describe('the dependencies', () => {
  it('are imported only by the files listed here', () => {
    const violations = vendors.filter(({ from, to }) => {
      const name = Object.keys(vendorFiles).find(
        (vendor) => to === vendor || to.startsWith(`${vendor}/`),
      );
      return name === undefined || !vendorFiles[name]?.test(from);
    });
    expect(violations).toEqual([]);
  });
});

describe('time, randomness and the process', () => {
  /** Accesses to the outside world that a test could not control. Locks and temporary files need real times and random names. */
  const reads: readonly [RegExp, RegExp, string][] = [
    [
      /\bDate\.now\(|new Date\(\)/,
      /^(base|sandbox)\/clock\.ts$|^base\/(files|lock)\.ts$|^cli\/compile-cache\.ts$/,
      'a clock',
    ],
    [/\bMath\.random\(/, /^base\/lock\.ts$/, 'randomness'],
    [
      /\bprocess\.(env|argv|stdout|stderr|stdin)\b/,
      /^cli\/(main|process|signals)\.ts$/,
      'the process',
    ],
    [/\bprocess\.exit\(/, /^cli\/(process|signals)\.ts$/, 'an exit'],
    [/\bconsole\.\w+\(/, /^$/, 'the console'],
  ];

  it.each(reads)('%s only appears in %s: %s', (pattern, files) => {
    const violations = filesBelow(src)
      .map((file) => relative(src, file))
      .filter(
        (file) =>
          !files.test(file) && pattern.test(withoutComments(readFileSync(join(src, file), 'utf8'))),
      );
    expect(violations).toEqual([]);
  });
});

it('prices are written in one place', () => {
  const priced = /\b(?:\w+_CU|cu\w*|\w+Cu)\b\s*[:=]\s*[1-9][\d_]*\b/;
  const places = filesBelow(src)
    .map((file) => relative(src, file))
    .filter((file) => priced.test(withoutComments(readFileSync(join(src, file), 'utf8'))));
  expect(places).toEqual([]);
});

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');

it('no dependency has an install script that package.json neither allows nor denies', () => {
  const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));
  const packages: Record<string, { readonly hasInstallScript?: boolean }> =
    read('package-lock.json').packages;
  const scripted = Object.keys(packages)
    .filter((place) => packages[place]?.hasInstallScript)
    .map((place) => place.replace(/^.*node_modules\//, ''));
  // Otherwise npm 11 warns at each install, which is the first thing that a newcomer reads.
  expect(Object.keys(read('package.json').allowScripts)).toEqual(scripted);
});
