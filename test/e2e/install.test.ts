import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { envOf, openHome, withSandbox } from './harness.ts';
import { program } from './program.ts';

const root = join(import.meta.dirname, '../..');
const place = mkdtempSync(join(tmpdir(), 'trdr-install-'));
const [source, target] = [join(place, 'package'), join(place, 'empty')];
const installed = join(target, 'node_modules/trdr');

/** npm without scripts, without anybody to ask, and with nothing of this user's settings. */
const npm = (args: readonly string[], cwd: string) =>
  execa('npm', [...args, '--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: place },
    extendEnv: false,
  });

const below = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

beforeAll(async () => {
  cpSync(dirname(dirname(program)), source, { recursive: true });
  for (const part of ['README.md', 'LICENSE', 'docs'])
    cpSync(join(root, part), join(source, part), { recursive: true });
  // None of these may come along.
  for (const part of ['src', 'test', '.tools']) {
    mkdirSync(join(source, part));
    writeFileSync(join(source, part, 'left-behind.ts'), '');
  }
  const { stdout } = await npm(['pack', '--json'], source);
  const [{ filename }]: [{ filename: string }] = JSON.parse(stdout);
  mkdirSync(target);
  // Named, or npm would take a folder further up that has packages.
  await npm(['install', '--prefix', target, join(source, filename)], target);
}, 120_000);
afterAll(() => rmSync(place, { recursive: true, force: true }));

describe('the package', () => {
  test('holds the program with its texts, and nothing that it was made of', () => {
    expect(readdirSync(installed).sort()).toEqual([
      'LICENSE',
      'README.md',
      'bin',
      'completions',
      'dist',
      'docs',
      'package.json',
    ]);
    expect(readdirSync(join(installed, 'bin'))).toEqual(['trdr.js']);
    expect(readdirSync(join(installed, 'dist')).filter((name) => !name.endsWith('.cjs'))).toEqual([
      'THIRD-PARTY-NOTICES.txt',
      'help',
      'man',
    ]);
    expect(
      below(installed).filter(
        (path) => !/(\.(cjs|json|txt|1|md|svg)|LICENSE|bin\/trdr\.js|package\.json)$/.test(path),
      ),
    ).toEqual([
      'completions/trdr.bash',
      'completions/trdr.fish',
      'completions/trdr.ps1',
      'completions/trdr.zsh',
    ]);
  });

  test('needs no other package', () => {
    expect(readdirSync(join(target, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      'trdr',
    ]);
    const { dependencies, optionalDependencies, peerDependencies, scripts } = JSON.parse(
      readFileSync(join(installed, 'package.json'), 'utf8'),
    );
    expect([dependencies, optionalDependencies, peerDependencies]).toEqual([undefined, undefined, undefined]);
    expect(Object.keys(scripts).filter((name) => /install$/.test(name))).toEqual([]);
  });

  test('says whose code is in it, and on what terms', () => {
    const notices = readFileSync(join(installed, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8');
    for (const name of [
      'commander',
      'undici',
      'ws',
      'zod',
      'conf',
      'ora',
      'chalk',
      'cli-table3',
      'string-width',
    ]) {
      expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(MIT\\)$`, 'm'));
    }
    expect(notices.match(/Permission (is hereby granted|to use)/g)?.length).toBeGreaterThan(30);
  });
});

/** Other versions of Node to try, by path: `TRDR_NODES=/a/bin/node:/b/bin/node`. */
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

  test('says its version and its help', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect((await run(['--version'])).stdout).toBe(version);
    expect((await run(['thesis', 'tail', '--help'])).stdout).toContain('trdr thesis tail');
    expect((await run(['completion', 'bash'])).stdout).toContain('trdr');
  });

  test('asks a service, and knows the answer the second time', async () => {
    const sandbox = await withSandbox();
    const options = { home: openHome(), sandbox };
    const { stdout } = await run(['whois', 'mira'], options);
    expect(JSON.parse(stdout)).toMatchObject({ subject: 'mira', found: true });
    const calls = sandbox.log.length;
    for (let again = 0; again < 2; again++)
      expect((await run(['whois', 'mira'], options)).stdout).toBe(stdout);
    expect(sandbox.log.length).toBe(calls);
  });

  test('needs no service to be tried', async () => {
    expect((await run(['whois', 'mira', '-o', 'table', '--sandbox'])).stdout).toContain('mira');
    const tail = await run(['thesis', 'tail', '--sandbox', '--yes', '--backfill', '2', '--count', '2']);
    expect(tail.stdout.split('\n')).toHaveLength(2);
  });

  test('keeps settings, and draws tables', async () => {
    const home = openHome();
    await run(['config', 'set', 'output', 'table'], { home });
    expect((await run(['price', 'user.wallet'], { home })).stdout).toMatch(/30,000/);
  });
});
