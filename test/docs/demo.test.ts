import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { hasServer } from '../store/program.ts';
import { root } from './pages.ts';

test('the demo shows its commands, exits 0 and leaves no files behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trdr-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { exitCode, stdout, stderr } = await execa(process.execPath, ['.tools/demo.mjs'], {
    cwd: root,
    env: { TMPDIR: folder },
    reject: false,
  });
  expect([exitCode, readdirSync(folder)], stderr).toEqual([0, []]);
  for (const shown of [
    '$ trdr whois mira',
    '$ trdr thesis tail',
    'stopped after ',
    '$ trdr me',
    'Try it: ',
  ]) {
    expect(`${stdout}\n${stderr}`).toContain(shown);
  }
});

// The demo mostly waits for the lease of a killed leader, so it runs only with DEMO=store.
test.runIf(process.env['DEMO'] === 'store' && hasServer())(
  'the demo of the store loses its leader and no post',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trdr-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const { exitCode, stdout, stderr } = await execa(process.execPath, ['.tools/demo.mjs', 'store'], {
      cwd: root,
      env: { TMPDIR: folder },
      reject: false,
    });
    expect([exitCode, readdirSync(folder)], `${stdout}\n${stderr}`).toEqual([0, []]);
    expect(stdout).toMatch(/feed +thesis +polling +led by two/);
    expect(stdout).toMatch(/Both followers have the same \d+ posts in the same order, each once\./);
  },
);
