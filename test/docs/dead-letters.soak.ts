import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPage } from './pages.ts';
import { openMachine } from './run.ts';

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

test('dead letters are replayed with the variables of their batches, until the command accepts them', async () => {
  const { workspace, run: runIn } = await openMachine();
  const cwd = mkdtempSync(join(workspace.path, 'dead-'));
  const run = (script: string) => runIn('bash', ['-euo', 'pipefail', '-c', script], cwd);
  const linesOf = (name: string) => {
    const path = join(cwd, name);
    return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
  };
  writeFileSync(join(cwd, 'deliver'), deliver, { mode: 0o755 });
  writeFileSync(join(cwd, 'away'), '');
  const words = '--via poll --backfill 3 --count 3 --checkpoint tail.json --batch 1 --tries 1';
  const { exitCode, stderr } = await run(`trdr thesis tail --yes ${words} --exec ./deliver`);
  expect([exitCode, stderr]).toEqual([9, expect.stringContaining('docs/exec.md')]);
  expect((await run(scriptOf('sh dead letters'))).exitCode).toBe(0);
  const dead = linesOf('again.ndjson');
  expect(dead.length).toBe(3);

  const script = scriptOf('sh dead letters replayed');
  // It gives up on a post after ten attempts, so only the first failure is awaited here.
  const failed = await run(`${script.trim()} --tries 1`);
  expect([failed.exitCode, linesOf('delivered')]).toEqual([9, []]);
  await run('rm away');
  expect((await run(script)).exitCode).toBe(0);
  const ids = dead.map((line): string => JSON.parse(line).id);
  expect([linesOf('delivered'), linesOf('variables')]).toEqual([
    dead,
    ids.map((id) => `1 ${id} ${id}`),
  ]);
});
