import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { execa, execaSync } from 'execa';
import { onTestFinished } from 'vitest';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/index.ts';
import { program } from '../e2e/program.ts';
import { root } from './pages.ts';

/** A temporary folder in which docs are tried out, with `trdr` on the path. */
export interface Workspace {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  close(): void;
}

/** A replacement for curl with the options that the docs use. */
const plainCurl = `
const words = process.argv.slice(2);
const headers = {};
let [method, body, url, shows] = ['GET', undefined, '', false];
for (let word = words.shift(); word !== undefined; word = words.shift()) {
  if (word === '-X') method = words.shift();
  else if (word === '-d') [method, body] = ['POST', words.shift()];
  else if (word === '-H') { const [name, ...rest] = words.shift().split(':'); headers[name] = rest.join(':').trim(); }
  else if (word === '-i') shows = true;
  else if (word === '--retry') words.shift();
  else if (!word.startsWith('-')) url = word;
}
fetch(url, { method, headers, body }).then(async (response) => {
  if (shows) process.stdout.write('HTTP/1.1 ' + response.status + '\\n' + [...response.headers].map((pair) => pair.join(': ')).join('\\n') + '\\n\\n');
  process.stdout.write(await response.text());
});
`;

export const isInstalled = (name: string): boolean =>
  execaSync('sh', ['-c', 'command -v "$0"', name], { reject: false }).exitCode === 0;

/** Creates a workspace. */
export function openWorkspace(more: Readonly<Record<string, string>> = {}): Workspace {
  const path = mkdtempSync(join(tmpdir(), 'trdr-docs-'));
  const bin = join(path, 'bin');
  mkdirSync(bin);
  const install = (name: string, text: string) => {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  };
  install('trdr', `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  if (!isInstalled('curl')) install('curl', `#!${process.execPath}\n${plainCurl}`);
  const env = {
    PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
    HOME: path,
    TRDR_CONFIG_DIR: join(path, 'config'),
    TRDR_STATE_DIR: join(path, 'state'),
    TRDR_CACHE_DIR: join(path, 'cache'),
    NODE_PATH: join(root, 'node_modules'),
    LANG: 'C.UTF-8',
    ...more,
  };
  return { path, env, close: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** A service, and a workspace that uses it, both for the present test. */
export async function openMachine(options: SandboxOptions = {}, more: Readonly<Record<string, string>> = {}) {
  const service = await startSandbox({ plan: 'scale', theses: 200, ...options });
  const workspace = openWorkspace({ TRDR_BASE_URL: service.url, TRDR_API_KEY: service.key, ...more });
  onTestFinished(async () => {
    await service.close();
    workspace.close();
  });
  /** Runs a program in a folder of the workspace. */
  const run = (file: string, words: readonly string[], cwd = workspace.path) =>
    execa(file, words, { cwd, env: workspace.env, extendEnv: false, reject: false, stdin: 'ignore' });
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
export const tools = ['jq', 'mlr', 'duckdb', 'sqlite3', 'kcat', 'redis-cli', 'nats'];

/** The tools that a script calls, also inside a quoted command, and that are not installed. */
export const missingFor = (script: string): string[] =>
  tools.filter((tool) => new RegExp(`(?:^|[\\s"'|(])${tool} `, 'm').test(script) && !isInstalled(tool));
