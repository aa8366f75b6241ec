// Collects the licenses of the bundled packages, which must accompany the code.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bundle.mjs';

const title = `Third-party notices

trdr's files contain the packages below, each under the terms that follow its name.
`;

/** The notices of every package among the bundled sources. */
export function noticesOf(inputs) {
  const folders = new Set(inputs.map(packageFolder).filter((folder) => folder !== undefined));
  const texts = [...folders].map(noticeOf);
  // One version may be installed in two places.
  return [title, ...new Set(texts.sort())].join(`\n${'-'.repeat(80)}\n\n`);
}

/** The folder of a source's package. */
function packageFolder(path) {
  const [, folder] = /^(?:.*?:)?(.*\bnode_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
  return folder;
}

function noticeOf(folder) {
  const where = join(root, folder);
  const { name, version, license } = JSON.parse(readFileSync(join(where, 'package.json'), 'utf8'));
  const files = readdirSync(where).filter((file) => /^(licen[cs]e|notice|copying)([.-].*)?$/i.test(file));
  if (files.length === 0)
    throw new Error(`${name} has no license file: stop bundling it, or add its terms here`);
  const terms = files
    .sort()
    .map((file) => readFileSync(join(where, file), 'utf8').trim().replace(/\r\n/g, '\n'));
  return `${name} ${version} (${license})\n\n${terms.join('\n\n')}\n`;
}
