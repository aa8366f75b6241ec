import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { openHome } from '../e2e/harness.ts';
import { has } from '../tools.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'trdr-release-'));
const inFolder = (path: string) => join(folder, path);
const read = (path: string) => readFileSync(inFolder(path), 'utf8');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const deb = inFolder(`trdr_${version}_all.deb`);

interface Content {
  readonly type: 'tree' | 'file' | 'symlink';
  readonly src: string;
  readonly dst: string;
}

const contents = (): readonly Content[] => parse(read('nfpm.yaml')).contents;

beforeAll(() => execa('npm', ['run', 'release-files', '--', folder], { cwd: root }), 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('npm run release-files', () => {
  test('names the hash of the package in all that installs it', () => {
    const tarball = `trdr-${version}.tgz`;
    const hash = createHash('sha256')
      .update(readFileSync(inFolder(tarball)))
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
        expect(existsSync(inFolder(src.replace('/usr/lib/trdr', 'files/package'))), dst).toBe(true);
      else expect(statSync(inFolder(src)).isDirectory(), dst).toBe(type === 'tree');
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
  const place = inFolder('installed');
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
