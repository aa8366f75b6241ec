import { spawnSync } from 'node:child_process';
import { isSoak } from './repeats.ts';

interface Tool {
  /** What is skipped without it. */
  readonly tests: string;
  /** The Debian package that has it. */
  readonly apt: string;
}

/** The programs that tests use where they are installed. `npm test` passes without any of them. */
const tools = {
  'redis-server': { tests: 'the shared store', apt: 'redis-server' },
  bash: { tests: 'completion in bash, scripts in the docs', apt: 'bash' },
  zsh: { tests: 'completion in zsh', apt: 'zsh' },
  fish: { tests: 'completion in fish', apt: 'fish' },
  script: { tests: 'the pager, hidden input, completion on a terminal', apt: 'bsdutils' },
  expect: { tests: 'the progress line, the set-up of completion', apt: 'expect' },
  groff: { tests: 'the format of the man pages', apt: 'groff' },
  man: { tests: 'the installed man pages', apt: 'man-db' },
  curl: { tests: '--dry-run --curl, the walkthrough of the sandbox', apt: 'curl' },
  jq: { tests: 'recipes, scripts in the docs', apt: 'jq' },
  logrotate: { tests: 'the rotation recipe', apt: 'logrotate' },
  python3: { tests: 'the program that checks a digest', apt: 'python3' },
  setpriv: { tests: 'the set-up of completion as a plain user', apt: 'util-linux' },
  'secret-tool': { tests: 'the keychain', apt: 'libsecret-tools' },
  'gnome-keyring-daemon': { tests: 'the keychain', apt: 'gnome-keyring' },
  'dbus-run-session': { tests: 'the keychain', apt: 'dbus' },
  'dpkg-deb': { tests: 'the Debian package', apt: 'dpkg' },
  unshare: { tests: 'full disks, which also need root on Linux', apt: 'util-linux' },
} as const satisfies Readonly<Record<string, Tool>>;

/** The tools that only `npm run soak` uses. */
const soakTools = {
  promtool: { tests: 'metrics and alerts', apt: 'prometheus' },
  'systemd-analyze': { tests: 'the systemd units', apt: 'systemd' },
  kubectl: { tests: 'the Kubernetes manifest', apt: 'kubernetes-client' },
  wscat: { tests: 'the sandbox with wscat', apt: 'node-ws' },
  mlr: { tests: 'recipes', apt: 'miller' },
  sqlite3: { tests: 'recipes', apt: 'sqlite3' },
  kcat: { tests: 'recipes', apt: 'kcat' },
  'redis-cli': { tests: 'recipes', apt: 'redis-tools' },
  duckdb: { tests: 'recipes', apt: 'none' },
  nats: { tests: 'recipes', apt: 'none' },
  'nats-server': { tests: 'recipes', apt: 'nats-server' },
} as const satisfies Readonly<Record<string, Tool>>;

/** The server to test against; STORE_SERVER names another one, such as a newer release or Valkey. */
export const serverProgram = process.env['STORE_SERVER'] ?? 'redis-server';

export type ToolName = keyof typeof tools | keyof typeof soakTools;

/** With TEST_TOOLS=none, tests behave as on a machine without any of the tools. */
const isWithout = process.env['TEST_TOOLS'] === 'none';

const isOnPath = (name: string): boolean =>
  spawnSync('sh', ['-c', 'command -v "$1"', 'sh', name]).status === 0;

const seen = new Map<string, boolean>();

/** Whether every named tool is there; a test that needs one is skipped without it. */
export function has(...names: readonly ToolName[]): boolean {
  if (isWithout) return false;
  return names.every((name) => {
    const program = name === 'redis-server' ? serverProgram : name;
    const isThere = seen.get(program) ?? isOnPath(program);
    seen.set(program, isThere);
    return isThere;
  });
}

/** One row for each tool that is missing, with what was skipped without it and its package. */
export function missingTools(): readonly (readonly string[])[] {
  const used: Readonly<Record<string, Tool>> = isSoak ? { ...tools, ...soakTools } : tools;
  return Object.entries(used)
    .filter(([name]) => !has(name as ToolName))
    .map(([name, { tests, apt }]) => [name, tests, apt]);
}

/** Runs the checker of Prometheus. */
export const promtool = (words: readonly string[], input = '') =>
  spawnSync('promtool', words, { input, encoding: 'utf8' });
