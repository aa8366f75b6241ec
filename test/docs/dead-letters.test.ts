import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { readPage } from './pages.ts';
import { openWorkspace } from './run.ts';

const scriptOf = (info: string): string => {
  const block = readPage('docs/exec.md').blocks.find((each) => each.info === info);
  if (!block) throw new Error(`docs/exec.md has no block "${info}"`);
  return block.text;
};

/** Fails while the queue is away, and records its variables and its input otherwise. */
const deliver = `#!/bin/sh
[ -e away ] && exit 1
printf '%s %s %s\\n' "$TRDR_ROWS" "$TRDR_FIRST_ID" "$TRDR_LAST_ID" >> variables
cat >> delivered
`;

/** A folder with the dead letters of three batches. */
async function withDeadLetters(batch: number) {
  const service = await startSandbox({ plan: 'scale', theses: 200 });
  const workspace = openWorkspace({ TRDR_BASE_URL: service.url, TRDR_API_KEY: service.key });
  onTestFinished(async () => {
    await service.close();
    workspace.close();
  });
  const cwd = mkdtempSync(join(workspace.path, 'dead-'));
  writeFileSync(join(cwd, 'deliver'), deliver, { mode: 0o755 });
  writeFileSync(join(cwd, 'away'), '');
  const count = 3 * batch;
  const run = (script: string) =>
    execa('bash', ['-euo', 'pipefail', '-c', script], {
      ...{ cwd, env: workspace.env, extendEnv: false, reject: false, stdin: 'ignore' },
    });
  const words = `--via poll --backfill ${count} --count ${count} --checkpoint tail.json --batch ${batch} --tries 1`;
  const { exitCode, stderr } = await run(`trdr thesis tail --yes ${words} --exec ./deliver`);
  expect([exitCode, stderr]).toEqual([9, expect.stringContaining('docs/exec.md')]);
  await run('rm away');
  expect((await run(scriptOf('sh dead letters'))).exitCode).toBe(0);
  const linesOf = (name: string) => {
    const path = join(cwd, name);
    return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
  };
  const dead = linesOf('again.ndjson');
  expect(dead.length).toBe(count);
  return { run, dead, linesOf };
}

test('dead letters are replayed with the variables of their batches, until the command accepts them', async () => {
  const { run, dead, linesOf } = await withDeadLetters(1);
  const script = scriptOf('sh dead letters replayed');
  await run('touch away');
  // It gives up on a post after ten attempts, so only the first failure is awaited here.
  const failed = await run(`${script.trim()} --tries 1`);
  expect([failed.exitCode, linesOf('delivered')]).toEqual([9, []]);
  await run('rm away');
  expect((await run(script)).exitCode).toBe(0);
  const ids = dead.map((line): string => JSON.parse(line).id);
  expect([linesOf('delivered'), linesOf('variables')]).toEqual([dead, ids.map((id) => `1 ${id} ${id}`)]);
});
