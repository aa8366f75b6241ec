// Builds dist/: the program, its help texts and its man pages. The new folder is built separately and then swapped in, so that
// a trdr that runs meanwhile always finds a complete one.
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { load, root } from './bundle.mjs';
import { noticesOf, sbomOf } from './notices.mjs';
import { makePieces } from './pieces.mjs';

const dist = join(root, 'dist');
const stage = mkdtempSync(join(root, '.dist-'));
const fresh = join(stage, 'fresh');
const write = (path, text) => {
  mkdirSync(dirname(join(fresh, path)), { recursive: true });
  writeFileSync(join(fresh, path), text);
};

try {
  const [{ texts, inputs }, { preparedTexts }] = await Promise.all([
    makePieces(),
    load('src/cli/docs/manual.ts'),
  ]);
  const { help, man, outline, skill } = await preparedTexts();
  for (const [name, text] of Object.entries(texts)) write(name, text);
  write('THIRD-PARTY-NOTICES.txt', noticesOf(inputs));
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  write('sbom.cdx.json', sbomOf(inputs, own));
  for (const [name, text] of Object.entries(help)) write(join('help', name), text);
  for (const [name, text] of Object.entries(man)) write(join('man', name), text);
  write('complete.json', outline);
  write('skill.md', skill);
  swap();
} finally {
  rmSync(stage, { recursive: true, force: true });
}

/** Replaces the old folder with the new one; another build may do the same at the same time. */
function swap() {
  for (let tries = 0; ; tries++) {
    try {
      renameSync(dist, join(stage, `old-${tries}`));
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
    }
    try {
      return renameSync(fresh, dist);
    } catch (error) {
      if (tries > 9 || !['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(error.code)) throw error;
    }
  }
}
