import { readdirSync } from 'node:fs';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { program } from '../e2e/program.ts';
import { openFolder } from '../folder.ts';
import { isSoak } from '../repeats.ts';
import { has } from '../tools.ts';
import { root } from './pages.ts';

/** Runs a demo, which must exit 0 and leave no files behind. Returns what it shows. */
async function demo(...words: readonly string[]): Promise<string> {
  const folder = openFolder();
  const { exitCode, stdout, stderr } = await execa(
    process.execPath,
    ['.tools/demo.mjs', ...words],
    {
      cwd: root,
      env: { TMPDIR: folder, DEMO_PROGRAM: program },
      reject: false,
    },
  );
  expect([exitCode, readdirSync(folder)], `${stdout}\n${stderr}`).toEqual([0, []]);
  return `${stdout}\n${stderr}`;
}

test('the demo shows its commands', async () => {
  const text = await demo();
  for (const shown of [
    '$ trdr whois mira',
    '$ trdr thesis tail',
    'stopped after ',
    '$ trdr me',
    'Try it: ',
  ])
    expect(text).toContain(shown);
});

// The demo mostly waits for the lease of a killed leader.
const inSoak = isSoak ? test.skipIf(!has('redis-server')) : undefined;
inSoak?.('the demo of the store loses its leader and no post', async () => {
  const text = await demo('store');
  expect(text).toMatch(/feed +thesis +polling +led by two/);
  expect(text).toMatch(/Both followers have the same \d+ posts in the same order, each once\./);
});
