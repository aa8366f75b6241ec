import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { has } from '../tools.ts';
import { readPage } from './pages.ts';
import { openMachine } from './run.ts';

test.skipIf(!has('python3'))('the program in docs/proof.md verifies the digest', async () => {
  const { workspace, run } = await openMachine();
  const tail = 'thesis tail --via poll --backfill 30 --duration 1s --yes --out theses.ndjson';
  expect((await run('trdr', tail.split(' '))).exitCode).toBe(0);
  const script =
    readPage('docs/proof.md').blocks.find(({ info }) => info === 'python digest')?.text ?? '';
  const check = async () => (await run('python3', ['-c', script])).stdout;
  expect(await check()).toBe('unchanged');
  const path = join(workspace.path, 'theses.ndjson');
  // Lines of a running tail that the certificate does not cover yet.
  appendFileSync(path, '{"id":"later"}\n');
  expect(await check()).toBe('unchanged');
  writeFileSync(path, readFileSync(path, 'utf8').replace('"id":"', '"id":"x'));
  expect(await check()).toBe('changed');
});
