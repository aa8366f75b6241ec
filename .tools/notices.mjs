// Lists the bundled packages: their licenses, which must accompany the code, and the software bill of materials.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bundle.mjs';

const title = `Third-party notices

trdr's files contain the packages below, each under the terms that follow its name.
`;

/** The packages among the bundled sources, by name and version. One version may be installed in two places. */
function packagesOf(inputs) {
  const folders = [...new Set(inputs.map(packageFolder).filter((folder) => folder !== undefined))];
  const packages = folders.map((folder) => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(root, folder, 'package.json'), 'utf8'),
    );
    return { name, version, license, folder };
  });
  const unique = new Map(packages.map((each) => [`${each.name} ${each.version}`, each]));
  return [...unique.keys()].sort().map((key) => unique.get(key));
}

/** The notices of every package among the bundled sources. */
export const noticesOf = (inputs) =>
  [title, ...packagesOf(inputs).map(noticeOf)].join(`\n${'-'.repeat(80)}\n\n`);

/** The first line of each notice: name, version and license. */
export const noticeHeads = (text) =>
  text
    .split(`${'-'.repeat(80)}\n\n`)
    .slice(1)
    .map((notice) => notice.split('\n', 1)[0]);

/**
 * The software bill of materials: CycloneDX 1.5, as JSON. It has no time and a serial number that follows from its content, so
 * that a build can be reproduced.
 */
export function sbomOf(inputs, own) {
  const component = ({ name, version, license }, type) => ({
    type,
    'bom-ref': purlOf(name, version),
    name,
    version,
    purl: purlOf(name, version),
    licenses: [/[ ()]/.test(license) ? { expression: license } : { license: { id: license } }],
  });
  const components = packagesOf(inputs).map((each) => component(each, 'library'));
  const main = component(own, 'application');
  const refs = components.map((each) => each['bom-ref']);
  const content = {
    version: 1,
    metadata: { component: main },
    components,
    dependencies: [{ ref: main['bom-ref'], dependsOn: refs }, ...refs.map((ref) => ({ ref }))],
  };
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  const uuid = hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
  const head = { bomFormat: 'CycloneDX', specVersion: '1.5', serialNumber: `urn:uuid:${uuid}` };
  return `${JSON.stringify({ ...head, ...content }, undefined, 2)}\n`;
}

const purlOf = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`;

/** The folder of a source's package. */
function packageFolder(path) {
  const [, folder] = /^(?:.*?:)?(.*\bnode_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
  return folder;
}

function noticeOf({ name, version, license, folder }) {
  const where = join(root, folder);
  const files = readdirSync(where).filter((file) =>
    /^(licen[cs]e|notice|copying)([.-].*)?$/i.test(file),
  );
  if (files.length === 0)
    throw new Error(`${name} has no license file: stop bundling it, or add its terms here`);
  const terms = files
    .sort()
    .map((file) => readFileSync(join(where, file), 'utf8').trim().replace(/\r\n/g, '\n'));
  return `${name} ${version} (${license})\n\n${terms.join('\n\n')}\n`;
}
