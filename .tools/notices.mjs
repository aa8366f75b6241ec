// The licences of the packages that are bundled: their terms ask that they go wherever the code goes.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bundle.mjs';

const title = `Third-party notices

trdr's files contain the packages below, each under the terms that follow its name.
`;

/** The notices for every package among the sources that were bundled. */
export function noticesOf(inputs) {
  const folders = new Set(inputs.map(packageFolder).filter((folder) => folder !== undefined));
  const texts = [...folders].map(noticeOf);
  // The same version may be installed in two places.
  return [title, ...new Set(texts.sort())].join(`\n${'-'.repeat(80)}\n\n`);
}

/** The folder of the package that a source belongs to. */
function packageFolder(path) {
  const [, folder] = /^(?:.*?:)?(.*\bnode_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
  return folder;
}

function noticeOf(folder) {
  const where = join(root, folder);
  const { name, version, license } = JSON.parse(readFileSync(join(where, 'package.json'), 'utf8'));
  const files = readdirSync(where).filter((file) => /^(licen[cs]e|notice|copying)([.-].*)?$/i.test(file));
  if (files.length === 0)
    throw new Error(`${name} has no licence file: bundle it no longer, or name its terms here`);
  const terms = files
    .sort()
    .map((file) => readFileSync(join(where, file), 'utf8').trim().replace(/\r\n/g, '\n'));
  return `${name} ${version} (${license})\n\n${terms.join('\n\n')}\n`;
}
