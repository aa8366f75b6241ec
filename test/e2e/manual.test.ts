import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { describe, expect, onTestFinished, test } from 'vitest';
import { rootHelp } from '../../src/cli/docs/help.ts';
import { allCommands, helpFiles, manTexts, referenceTexts } from '../../src/cli/docs/manual.ts';
import { trdr } from './harness.ts';
import { isInstalled } from './shells.ts';

const commands = await allCommands();
const named = (path: string) => path.replaceAll(' ', '-');

test('what help suggests to try runs as it stands, with nobody to ask', async () => {
  const lines = rootHelp(commands).match(/^ {2}trdr .* --sandbox$/gm) ?? [];
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    const { exitCode, stdout, stderr } = await trdr(line.trim().split(' ').slice(1));
    expect([line, exitCode, stdout === ''], stderr).toEqual([line, 0, false]);
  }
});

test('help fits a terminal of 80 columns, but for what is to be copied', async () => {
  for (const text of Object.values(await helpFiles())) {
    const [told = ''] = text.split('\nExamples:');
    for (const line of told.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  }
});

describe('the manual', () => {
  test('has a page for each command, and one for the whole', async () => {
    const names = commands.map(({ path }) => `trdr-${named(path)}.1`);
    expect(Object.keys(await manTexts()).sort()).toEqual(['trdr.1', ...names].sort());
  });

  test('is roff that draws no warning', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trdr-man-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    for (const [name, text] of Object.entries(await manTexts())) {
      expect(text).toMatch(/^\.TH "TRDR/);
      // What has no escape must be plain: anything else would depend on the reader's locale.
      expect(text).toMatch(/^[\n\x20-\x7e]*$/);
      if (!isInstalled('groff')) continue;
      writeFileSync(join(folder, name), text);
      const { stderr } = execaSync('groff', ['-ww', '-man', '-Tutf8', join(folder, name)]);
      expect([name, stderr]).toEqual([name, '']);
    }
  });

  test('shows examples to be copied as they are', async () => {
    if (!isInstalled('groff')) return;
    const folder = mkdtempSync(join(tmpdir(), 'trdr-man-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const pages = await manTexts();
    for (const { path, examples } of commands) {
      const file = join(folder, 'page.1');
      writeFileSync(file, pages[`trdr-${named(path)}.1`] ?? '');
      const { stdout } = execaSync('groff', ['-P-cbou', '-rLL=250n', '-man', '-Tutf8', file]);
      for (const { run } of examples) expect(stdout).toContain(run);
    }
  });
});

describe('the reference', () => {
  test('has a page for each command that tells of each flag, price and exit code', async () => {
    const pages = await referenceTexts();
    for (const { path, options, exits } of commands) {
      const page = pages[`${named(path)}.md`] ?? '';
      expect(page).toContain(`# trdr ${path}\n`);
      for (const { flags } of Object.values(options)) expect(page).toContain(flags);
      for (const code of exits) expect(page).toContain(`| \`${code}\` |`);
      expect(pages['README.md']).toContain(`](${named(path)}.md)`);
    }
  });
});
