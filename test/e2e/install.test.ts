import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { some } from '../repeats.ts';
import { has } from '../tools.ts';
import {
  type CommandLine,
  envOf,
  openHome,
  withoutReading,
  withSandbox,
  wordsOf,
} from './harness.ts';
import { program } from './program.ts';

const root = join(import.meta.dirname, '../..');
const place = mkdtempSync(join(tmpdir(), 'trdr-install-'));
const [source, release, prefix] = ['package', 'release', 'global'].map((name) =>
  join(place, name),
) as [string, string, string];
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const tarball = `trdr-${version}.tgz`;
const packages = join(prefix, 'lib/node_modules');
const installed = join(packages, 'trdr');

const below = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

// A copy of the repository with the program as it is built for all tests of a run.
beforeAll(async () => {
  cpSync(dirname(dirname(program)), source, { recursive: true });
  for (const part of ['README.md', 'LICENSE', 'docs', '.tools'])
    cpSync(join(root, part), join(source, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(source, 'node_modules'));
  // Files that the package must not include.
  for (const part of ['src', 'test']) {
    mkdirSync(join(source, part));
    writeFileSync(join(source, part, 'left-behind.ts'), '');
  }
  await execa(process.execPath, [join(source, '.tools/release-files.mjs'), release]);
  // npm without prompts and without the user's settings.
  const flags = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const words = ['install', '--global', '--prefix', prefix, join(release, tarball), ...flags];
  const env = { PATH: process.env['PATH'], HOME: place };
  await execa('npm', words, { cwd: place, env, extendEnv: false });
}, 300_000);
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
    expect(readdirSync(packages).filter((name) => !name.startsWith('.'))).toEqual(['trdr']);
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
  test('installs every man page', () => {
    const pages = readdirSync(join(source, 'dist/man'));
    for (const part of ['1', '7']) {
      const folder = join(prefix, 'share/man', `man${part}`);
      const linked = readdirSync(folder).sort();
      expect(linked).toEqual(pages.filter((name) => name.endsWith(`.${part}`)).sort());
      for (const name of linked) expect(readFileSync(join(folder, name), 'utf8')).toMatch(/^\.TH /);
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
    const words = ['--require', hook, join(installed, 'bin/trdr.js'), '--version'];
    return execa(process.execPath, words, { reject: false });
  };

  const tooOld = some(['20.18.0', '18.20.4', '20.17.0'], 2);
  test.each(tooOld)('rejects Node %s', async (version) => {
    const { exitCode, stdout, stderr } = await runAs(version);
    expect([exitCode, stdout]).toEqual([9, '']);
    expect(stderr).toContain(`trdr requires Node.js 20.18.1 or newer; this is ${version}`);
  });

  const newEnough = some(['20.18.1', '20.19.0', '22.0.0', '26.3.1'], 2);
  test.each(newEnough)('runs on Node %s', async (version) => {
    expect((await runAs(version)).exitCode).toBe(0);
  });

  test('explains what to do if the program was not built', async () => {
    const folder = join(place, 'unbuilt/bin');
    mkdirSync(folder, { recursive: true });
    cpSync(join(root, 'bin/trdr.js'), join(folder, 'trdr.js'));
    const words = [join(folder, 'trdr.js')];
    const { exitCode, stderr } = await execa(process.execPath, words, { reject: false });
    expect([exitCode, stderr]).toEqual([9, expect.stringContaining('npm run build')]);
  });
});

/** The Node binaries to test: this one, and more with `TRDR_NODES=/a/bin/node:/b/bin/node`. */
const nodes = [
  process.execPath,
  ...(process.env['TRDR_NODES'] ?? '').split(':').filter((path) => path !== ''),
];

describe.each(nodes)('the installed program, on %s', (node) => {
  const run = (words: CommandLine, options: Parameters<typeof envOf>[0] = {}) =>
    execa(node, [join(prefix, 'bin/trdr'), ...wordsOf(words)], {
      cwd: place,
      env: { ...envOf(options), NODE_DISABLE_COMPILE_CACHE: undefined },
      extendEnv: false,
      stdin: 'ignore',
    });

  test('sends a request to a service, and uses the cache the second time', async () => {
    const sandbox = await withSandbox();
    const options = { home: openHome(), sandbox };
    const { stdout } = await run('whois mira', options);
    expect(JSON.parse(stdout)).toMatchObject({ subject: 'mira', found: true });
    const calls = sandbox.log.length;
    const again = await run('whois mira', options);
    expect(withoutReading(again.stdout)).toBe(withoutReading(stdout));
    expect(sandbox.log.length).toBe(calls);
  });

  test('works with --sandbox', async () => {
    expect((await run('whois mira -o table --sandbox')).stdout).toContain('mira');
    const tail = await run('thesis tail --sandbox --yes --backfill 2 --count 2');
    expect(tail.stdout.split('\n')).toHaveLength(2);
  });
});

interface Content {
  readonly type: 'tree' | 'file' | 'symlink';
  readonly src: string;
  readonly dst: string;
}

const inRelease = (path: string) => join(release, path);
const read = (path: string) => readFileSync(inRelease(path), 'utf8');
const contents = (): readonly Content[] => parse(read('nfpm.yaml')).contents;

describe('a release', () => {
  test('names the hash of the package in all that installs it', () => {
    const hash = createHash('sha256')
      .update(readFileSync(inRelease(tarball)))
      .digest('hex');
    expect(read('Dockerfile')).toContain(`echo '${hash}  /tmp/${tarball}'`);
    expect(read('trdr.rb')).toContain(`sha256 "${hash}"`);
    expect(read('trdr.rb')).toContain(`/v${version}/${tarball}"`);
  });

  test('leaves no placeholder in a file', () => {
    for (const name of ['Dockerfile', 'trdr.rb', 'nfpm.yaml'])
      expect(read(name)).not.toMatch(/\{\{/);
  });

  test('lists files that exist, each once, for nfpm', () => {
    const listed = contents();
    expect(new Set(listed.map(({ dst }) => dst)).size).toBe(listed.length);
    for (const { type, src, dst } of listed) {
      if (type === 'symlink')
        expect(existsSync(inRelease(src.replace('/usr/lib/trdr', 'files/package'))), dst).toBe(
          true,
        );
      else expect(statSync(inRelease(src)).isDirectory(), dst).toBe(type === 'tree');
    }
    for (const part of ['bash-completion', 'zsh', 'fish', 'man/man1', 'man/man7', 'systemd/user'])
      expect(
        listed.some(({ dst }) => dst.includes(part)),
        part,
      ).toBe(true);
  });

  test('installs a unit that runs the program of the package', () => {
    expect(read('files/trdr-tail.service')).toMatch(/^ExecStart=\/usr\/bin\/trdr thesis tail /m);
  });

  test('puts the skill where installers of skills look for it', async () => {
    const { stdout } = await openHome().run(['skill']);
    expect(read('skills/trdr/SKILL.md').trim()).toBe(stdout.trim());
    expect(stdout).toMatch(/^---\nname: trdr\n/);
  });
});

test.skipIf(!has('dpkg-deb'))('the deb has the files of the list, and runs', async () => {
  const deb = inRelease(`trdr_${version}_all.deb`);
  const place = inRelease('installed');
  await execa('dpkg-deb', ['--extract', deb, place]);
  for (const { type, dst } of contents())
    if (type !== 'symlink') expect(existsSync(join(place, dst)), dst).toBe(true);
  const { stdout: control } = await execa('dpkg-deb', ['--field', deb, 'Version', 'Depends']);
  expect(control).toBe(`Version: ${version}\nDepends: nodejs (>= 20.18.1)`);
  const program = join(place, 'usr/lib/trdr/bin/trdr.js');
  const { stdout } = await execa(program, ['whois', 'mira', '--sandbox', '--fields', 'handle'], {
    env: openHome().env,
    extendEnv: false,
  });
  expect(JSON.parse(stdout)).toEqual({ handle: 'mira' });
});
