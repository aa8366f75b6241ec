// Writes the files of the repository that are generated from the commands: completion scripts, reference pages and the list of
// manual pages in package.json. With --check it writes nothing and exits 1 if a file is outdated.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load, root } from './bundle.mjs';

const { preparedTexts } = await load('src/cli/docs/manual.ts');
const { completions, man: manTexts, reference } = await preparedTexts();
const generated = { completions, 'docs/reference': reference };
const check = process.argv.includes('--check');
const stale = [];

for (const [folder, files] of Object.entries(generated)) {
  const there = existsSync(join(root, folder)) ? readdirSync(join(root, folder)) : [];
  for (const name of there) if (!Object.hasOwn(files, name)) change(folder, name, undefined);
  for (const [name, text] of Object.entries(files)) {
    const now = there.includes(name) ? readFileSync(join(root, folder, name), 'utf8') : undefined;
    if (now !== text) change(folder, name, text);
  }
}

// npm links the manual pages that package.json lists, one by one; it ignores folders.
const packagePath = join(root, 'package.json');
const packageFile = JSON.parse(readFileSync(packagePath, 'utf8'));
const man = Object.keys(manTexts)
  .sort()
  .map((name) => `./dist/man/${name}`);
if (JSON.stringify(packageFile.man) !== JSON.stringify(man)) {
  stale.push('package.json');
  if (!check)
    writeFileSync(packagePath, `${JSON.stringify({ ...packageFile, man }, undefined, 2)}\n`);
}

function change(folder, name, text) {
  const path = join(folder, name);
  stale.push(path);
  if (check) return;
  mkdirSync(join(root, folder), { recursive: true });
  if (text === undefined) rmSync(join(root, path));
  else writeFileSync(join(root, path), text);
}

if (check && stale.length > 0) {
  process.stderr.write(`outdated: ${stale.join(', ')}\nrun "npm run generate"\n`);
  process.exitCode = 1;
}
