// Checks that the software bill of materials of the build, its notices and package-lock.json name the same packages.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bundle.mjs';
import { noticeHeads } from './notices.mjs';

const read = (path) => readFileSync(join(root, path), 'utf8');
const { components } = JSON.parse(read('dist/sbom.cdx.json'));
const licenseOf = ({ licenses: [{ expression, license }] }) => expression ?? license.id;
const listed = components.map((each) => `${each.name} ${each.version} (${licenseOf(each)})`);
const noticed = noticeHeads(read('dist/THIRD-PARTY-NOTICES.txt'));
const { packages } = JSON.parse(read('package-lock.json'));
const locked = new Set(
  Object.entries(packages).map(
    ([path, { version }]) => `${path.replace(/^.*node_modules\//, '')} ${version}`,
  ),
);

const problems = [
  ...listed.filter((each) => !noticed.includes(each)).map((each) => `no notice for ${each}`),
  ...noticed
    .filter((each) => !listed.includes(each))
    .map((each) => `not in the bill of materials: ${each}`),
  ...components
    .filter(({ name, version }) => !locked.has(`${name} ${version}`))
    .map(({ name, version }) => `not in package-lock.json: ${name} ${version}`),
  ...(components.length === 0 ? ['the bill of materials is empty'] : []),
];
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
