import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { readPage } from './pages.ts';
import { isInstalled, openWorkspace } from './run.ts';

test.skipIf(!isInstalled('python3'))('the program in docs/proof.md verifies the digest', async () => {
  const service = await startSandbox({ plan: 'scale', theses: 200 });
  const workspace = openWorkspace({ TRDR_BASE_URL: service.url, TRDR_API_KEY: service.key });
  onTestFinished(async () => {
    await service.close();
    workspace.close();
  });
  const run = (file: string, words: readonly string[]) =>
    execa(file, words, {
      cwd: workspace.path,
      env: workspace.env,
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
    });
  const tail = 'thesis tail --via poll --backfill 30 --duration 1s --yes --out theses.ndjson';
  expect((await run('trdr', tail.split(' '))).exitCode).toBe(0);
  const script = readPage('docs/proof.md').blocks.find(({ info }) => info === 'python digest')?.text ?? '';
  const check = async () => (await run('python3', ['-c', script])).stdout;
  expect(await check()).toBe('unchanged');
  const path = join(workspace.path, 'theses.ndjson');
  // Lines of a running tail that the certificate does not cover yet.
  appendFileSync(path, '{"id":"later"}\n');
  expect(await check()).toBe('unchanged');
  writeFileSync(path, readFileSync(path, 'utf8').replace('"id":"', '"id":"x'));
  expect(await check()).toBe('changed');
});
