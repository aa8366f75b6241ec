// Packs trdr, as it is built, and writes what a release consists of to .release/, or to the folder that is given: the package of npm, a deb (where
// dpkg-deb is installed) and the file from which nfpm builds an rpm, a formula for Homebrew, a Dockerfile, and the skill for agents.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { root } from './bundle.mjs';

/** The time that npm gives to all files of a package, so that the same sources give the same deb. */
const PACKED = '499162500';

const output = resolve(process.argv[2] ?? join(root, '.release'));
const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const inOutput = (path) => join(output, path);
const read = (path) => readFileSync(join(root, path));

rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
const tarball = pack();
const facts = {
  tarball,
  version: own.version,
  license: own.license,
  description: own.description.replace(/\.$/, ''),
  node: own.engines.node.replace('>=', ''),
  sha256: createHash('sha256')
    .update(readFileSync(inOutput(tarball)))
    .digest('hex'),
  repository: repository(),
  homepage: own.homepage ?? repository(),
  maintainer: own.author?.name ?? own.author ?? 'the maintainers of trdr',
};
const contents = stageFiles();
facts.contents = contents
  .map(({ type, src, dst }) => `  - { type: ${type}, src: ${src}, dst: ${dst} }`)
  .join('\n');
for (const name of ['Dockerfile', 'trdr.rb', 'nfpm.yaml']) write(name, filled(name));
write('skills/trdr/SKILL.md', read('dist/skill.md'));
buildDeb();
for (const name of readdirSync(output).sort()) process.stdout.write(`${inOutput(name)}\n`);

/** The package of npm, of what is built. */
function pack() {
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', output];
  const text = execFileSync('npm', words, { cwd: root, encoding: 'utf8' });
  const [{ filename }] = JSON.parse(text);
  return filename;
}

/** Where releases are found: package.json says it, or the workflow that runs. */
function repository() {
  const saved = (own.repository?.url ?? '').replace(/^git\+|\.git$/g, '');
  if (saved !== '') return saved;
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env;
  return server && name ? `${server}/${name}` : 'https://example.com/OWNER/trdr';
}

/** The files of a deb and an rpm, below `files/`, as nfpm lists them. */
function stageFiles() {
  const files = 'files';
  mkdirSync(inOutput(files));
  execFileSync('tar', ['-xzf', inOutput(tarball), '-C', inOutput(files)]);
  const listed = [
    { type: 'tree', src: `${files}/package`, dst: '/usr/lib/trdr' },
    { type: 'symlink', src: '/usr/lib/trdr/bin/trdr.js', dst: '/usr/bin/trdr' },
  ];
  const add = (dst, data) => {
    const src = `${files}/${basename(dst)}`;
    write(src, data);
    listed.push({ type: 'file', src, dst });
  };
  for (const name of readdirSync(join(root, 'dist/man')).sort())
    add(
      `/usr/share/man/man${name.at(-1)}/${name}.gz`,
      gzipSync(read(`dist/man/${name}`), { level: 9 }),
    );
  add('/usr/share/bash-completion/completions/trdr', read('completions/trdr.bash'));
  add('/usr/share/zsh/vendor-completions/_trdr', read('completions/trdr.zsh'));
  add('/usr/share/fish/vendor_completions.d/trdr.fish', read('completions/trdr.fish'));
  add('/usr/lib/systemd/user/trdr-tail.service', unit());
  add('/usr/share/doc/trdr/copyright', read('LICENSE'));
  return listed;
}

/** The unit that docs/recipes.md shows, with the program of the package. */
function unit() {
  const [text] =
    /(?<=```ini\n)\[Unit\](?:(?!```)[\s\S])*--profile feed(?:(?!```)[\s\S])*/.exec(
      read('docs/recipes.md'),
    ) ?? [];
  if (text === undefined) throw new Error('docs/recipes.md has no unit with --profile feed');
  return text.replace('/usr/local/bin/trdr', '/usr/bin/trdr');
}

/** Builds the deb from the files that nfpm would take. */
function buildDeb() {
  if (spawnSync('dpkg-deb', ['--version']).status !== 0) {
    process.stderr.write('no deb: dpkg-deb is not installed\n');
    return;
  }
  const stage = inOutput('deb');
  for (const { type, src, dst } of contents) {
    const target = join(stage, dst);
    mkdirSync(dirname(target), { recursive: true });
    if (type === 'symlink') symlinkSync(src, target);
    else cpSync(inOutput(src), target, { recursive: true });
  }
  write('deb/DEBIAN/control', filled('control'));
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', stage]);
  chmodSync(join(stage, 'usr/lib/trdr/bin/trdr.js'), 0o755);
  const deb = inOutput(`trdr_${own.version}_all.deb`);
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', stage, deb], {
    env: { ...process.env, SOURCE_DATE_EPOCH: PACKED },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  rmSync(stage, { recursive: true });
}

function filled(template) {
  const text = read(`.tools/release/${template}`).toString();
  return text.replace(/\{\{(\w+)\}\}/g, (_, name) => {
    if (facts[name] === undefined) throw new Error(`${template}: nothing for ${name}`);
    return facts[name];
  });
}

function write(path, data) {
  mkdirSync(dirname(inOutput(path)), { recursive: true });
  writeFileSync(inOutput(path), data);
}
