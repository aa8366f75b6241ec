import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { some } from '../repeats.ts';
import { has } from '../tools.ts';
import { envOf, openHome, withoutReading, withSandbox } from './harness.ts';
import { program } from './program.ts';

const root = join(import.meta.dirname, '../..');
const place = mkdtempSync(join(tmpdir(), 'trdr-install-'));
const [source, target] = [join(place, 'package'), join(place, 'empty')];
const installed = join(target, 'node_modules/trdr');

/** npm without prompts and without the user's settings. */
const npm = (args: readonly string[], cwd: string) =>
  execa(
    'npm',
    [...args, '--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd,
      env: { PATH: process.env['PATH'], HOME: place },
      extendEnv: false,
    },
  );

const below = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

beforeAll(async () => {
  cpSync(dirname(dirname(program)), source, { recursive: true });
  for (const part of ['README.md', 'LICENSE', 'docs'])
    cpSync(join(root, part), join(source, part), { recursive: true });
  // Files that the package must not include.
  for (const part of ['src', 'test', '.tools']) {
    mkdirSync(join(source, part));
    writeFileSync(join(source, part, 'left-behind.ts'), '');
  }
  const { stdout } = await npm(['pack', '--json'], source);
  const [{ filename }]: [{ filename: string }] = JSON.parse(stdout);
  mkdirSync(target);
  // Use a prefix, because npm would otherwise use a parent folder that has packages.
  await npm(['install', '--prefix', target, join(source, filename)], target);
}, 120_000);
afterAll(() => rmSync(place, { recursive: true, force: true }));

describe('the package', () => {
  test('contains the program and its texts, but no sources', () => {
    const expected =
      /^(?:(?:LICENSE|README\.md|package\.json|bin\/trdr\.js)$|completions\/trdr\.\w+$|docs\/.*\.(?:md|svg)$|dist\/)/;
    const built =
      /\.cjs$|\/(?:THIRD-PARTY-NOTICES\.txt|complete\.json|sbom\.cdx\.json|skill\.md|man\/.*\.[17]|help\/[a-z-]+(?:\.brief)?(?:\.wide)?\.txt)$/;
    const files = below(installed);
    expect(files.filter((path) => !expected.test(path))).toEqual([]);
    expect(files.filter((path) => path.startsWith('dist/') && !built.test(path))).toEqual([]);
    // Pages about the code are in the repository only.
    const left = /^docs\/(?:architecture|changelog|contributing|dependencies|performance)\.md$/;
    expect(files.filter((path) => left.test(path))).toEqual([]);
    expect(files).toContain('docs/tail.md');
    for (const shell of ['bash', 'fish', 'ps1', 'zsh'])
      expect(files).toContain(`completions/trdr.${shell}`);
    for (const path of [
      'LICENSE',
      'README.md',
      'bin/trdr.js',
      'dist/skill.md',
      'dist/THIRD-PARTY-NOTICES.txt',
    ])
      expect(files).toContain(path);
  });

  test('needs no other package', () => {
    expect(
      readdirSync(join(target, 'node_modules')).filter((name) => !name.startsWith('.')),
    ).toEqual(['trdr']);
    const { dependencies, optionalDependencies, peerDependencies, scripts } = JSON.parse(
      readFileSync(join(installed, 'package.json'), 'utf8'),
    );
    expect([dependencies, optionalDependencies, peerDependencies]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(Object.keys(scripts).filter((name) => /install$/.test(name))).toEqual([]);
  });

  test('lists the licenses of its code', () => {
    const notices = readFileSync(join(installed, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8');
    for (const name of ['undici', 'ws', 'zod', 'chalk', 'string-width']) {
      expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(MIT\\)$`, 'm'));
    }
    expect(notices.match(/Permission (is hereby granted|to use)/g)?.length).toBeGreaterThan(15);
  });
});

describe('npm', () => {
  const prefix = join(place, 'global');

  test('installs every man page globally', async () => {
    await npm(['install', '--global', '--prefix', prefix, source], place);
    const pages = readdirSync(join(source, 'dist/man'));
    for (const part of ['1', '7']) {
      const linked = readdirSync(join(prefix, 'share/man', `man${part}`)).sort();
      expect(linked).toEqual(pages.filter((name) => name.endsWith(`.${part}`)).sort());
      for (const name of linked) {
        expect(readFileSync(join(prefix, 'share/man', `man${part}`, name), 'utf8')).toMatch(
          /^\.TH /,
        );
      }
    }
  });

  test.skipIf(!has('man'))('lets man find the pages', async () => {
    const { stdout } = await execa('man', ['-P', 'cat', 'trdr-whois'], {
      env: { PATH: `${join(prefix, 'bin')}:${process.env['PATH']}`, HOME: place, LANG: 'C.UTF-8' },
      extendEnv: false,
    });
    expect(stdout).toContain('trdr whois');
  });
});

describe('bin/trdr.js', () => {
  /** Runs the installed program on a Node that reports another version. */
  const runAs = async (version: string) => {
    const hook = join(place, `node-${version}.cjs`);
    writeFileSync(
      hook,
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`,
    );
    return execa(
      process.execPath,
      ['--require', hook, join(installed, 'bin/trdr.js'), '--version'],
      {
        reject: false,
      },
    );
  };

  test.each(some(['20.18.0', '18.20.4', '20.17.0'], 2))(
    'rejects Node %s with a message',
    async (version) => {
      const { exitCode, stdout, stderr } = await runAs(version);
      expect([exitCode, stdout]).toEqual([9, '']);
      expect(stderr).toContain(`trdr requires Node.js 20.18.1 or newer; this is ${version}`);
    },
  );

  test.each(some(['20.18.1', '20.19.0', '22.0.0', '26.3.1'], 2))(
    'runs on Node %s',
    async (version) => {
      expect((await runAs(version)).exitCode).toBe(0);
    },
  );

  test('explains what to do if the program was not built', async () => {
    const folder = join(place, 'unbuilt/bin');
    mkdirSync(folder, { recursive: true });
    cpSync(join(root, 'bin/trdr.js'), join(folder, 'trdr.js'));
    const { exitCode, stderr } = await execa(process.execPath, [join(folder, 'trdr.js')], {
      reject: false,
    });
    expect([exitCode, stderr]).toEqual([9, expect.stringContaining('npm run build')]);
  });
});

/** The Node binaries to test: this one, and more with `TRDR_NODES=/a/bin/node:/b/bin/node`. */
const nodes = [
  process.execPath,
  ...(process.env['TRDR_NODES'] ?? '').split(':').filter((path) => path !== ''),
];

describe.each(nodes)('installed into an empty folder, on %s', (node) => {
  const run = (args: readonly string[], options: Parameters<typeof envOf>[0] = {}) =>
    execa(node, [join(target, 'node_modules/.bin/trdr'), ...args], {
      cwd: place,
      env: { ...envOf(options), NODE_DISABLE_COMPILE_CACHE: undefined },
      extendEnv: false,
      stdin: 'ignore',
    });

  test('sends a request to a service, and uses the cache the second time', async () => {
    const sandbox = await withSandbox();
    const options = { home: openHome(), sandbox };
    const { stdout } = await run(['whois', 'mira'], options);
    expect(JSON.parse(stdout)).toMatchObject({ subject: 'mira', found: true });
    const calls = sandbox.log.length;
    const again = await run(['whois', 'mira'], options);
    expect(withoutReading(again.stdout)).toBe(withoutReading(stdout));
    expect(sandbox.log.length).toBe(calls);
  });

  test('works with --sandbox', async () => {
    expect((await run(['whois', 'mira', '-o', 'table', '--sandbox'])).stdout).toContain('mira');
    const tail = await run([
      'thesis',
      'tail',
      '--sandbox',
      '--yes',
      '--backfill',
      '2',
      '--count',
      '2',
    ]);
    expect(tail.stdout.split('\n')).toHaveLength(2);
  });
});
