import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { until } from './server.ts';

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

it('no server of a test survives the process of the test, however the process ends', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trdr-guard-'));
  const outfile = join(folder, 'guarded.mjs');
  const entry = fileURLToPath(new URL('./worker-guarded.ts', import.meta.url));
  await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'error',
  });
  const child = execa(process.execPath, [outfile, folder], { stdin: 'ignore', reject: false });
  const pid = await new Promise<number>((resolve) =>
    child.stdout.once('data', (part: Buffer) => resolve(Number(part.toString()))),
  );
  expect(isAlive(pid)).toBe(true);
  child.kill('SIGKILL');
  await until(() => !isAlive(pid) && !existsSync(folder));
});
