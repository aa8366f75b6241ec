import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { execa, execaSync } from 'execa';
import { onTestFinished } from 'vitest';
import { openWorkspace, type Workspace } from '../e2e/shells.ts';
import { type SandboxOptions, startSandbox } from '../sandbox/service.ts';
import { has } from '../tools.ts';

/** A service, and a workspace that uses it, both for the present test. */
export async function openMachine(
  options: SandboxOptions = {},
  more: Readonly<Record<string, string>> = {},
) {
  const service = await startSandbox({ plan: 'scale', theses: 200, ...options });
  const workspace = openWorkspace({
    TRDR_BASE_URL: service.url,
    TRDR_API_KEY: service.key,
    ...more,
  });
  onTestFinished(async () => {
    await service.close();
    workspace.close();
  });
  const run = (file: string, words: readonly string[], cwd = workspace.path) =>
    execa(file, words, {
      cwd,
      env: workspace.env,
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
    });
  return { service, workspace, run };
}

/** Runs a script in its own folder of the workspace. */
export async function runScript(script: string, workspace: Workspace, timeout = 60_000) {
  const cwd = mkdtempSync(join(workspace.path, 'run-'));
  const result = await execa('bash', ['-euo', 'pipefail', '-c', script], {
    cwd,
    env: workspace.env,
    extendEnv: false,
    reject: false,
    timeout,
    stdin: 'ignore',
  });
  return { cwd, stdout: result.stdout, stderr: result.stderr, exitCode: result.exitCode };
}

/** The syntax errors of a script according to bash; empty if valid. */
export const syntaxOf = (script: string): string =>
  execaSync('bash', ['-n'], { input: script, reject: false }).stderr;

/** The tools of the docs that not every machine has. */
export const tools = [
  'curl',
  'jq',
  'mlr',
  'duckdb',
  'sqlite3',
  'kcat',
  'redis-cli',
  'nats',
] as const;

/** What a script needs and is not installed: bash, and the tools that it calls, also inside a quoted command. */
export const missingFor = (script: string): string[] => [
  ...(has('bash') ? [] : ['bash']),
  ...tools.filter((tool) => new RegExp(`(?:^|[\\s"'|(])${tool} `, 'm').test(script) && !has(tool)),
];
