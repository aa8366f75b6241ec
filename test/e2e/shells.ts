import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { execa } from 'execa';
import { completionScripts } from '../../src/cli/docs/completion/scripts.ts';
import { shiftedClock } from './harness.ts';
import { compiledCode, program } from './program.ts';

export type Workspace = ReturnType<typeof openWorkspace>;

/** Creates a temporary home with `trdr` on the path. */
export function openWorkspace(more: Readonly<Record<string, string>> = {}) {
  const path = mkdtempSync(join(tmpdir(), 'trdr-shell-'));
  const [bin, cache] = [join(path, 'bin'), join(path, 'cache')];
  mkdirSync(bin);
  // Compiling takes a third of a short run, so all workspaces share the code that the program compiled.
  mkdirSync(cache, { mode: 0o700 });
  symlinkSync(compiledCode, join(cache, 'code'));
  const start = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`;
  writeFileSync(join(bin, 'trdr'), start, { mode: 0o755 });
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: path,
    ...shiftedClock(),
    TRDR_CONFIG_DIR: join(path, 'config'),
    TRDR_STATE_DIR: join(path, 'state'),
    TRDR_CACHE_DIR: cache,
    NODE_PATH: join(import.meta.dirname, '../../node_modules'),
    LANG: 'C.UTF-8',
    ...more,
  };
  return { path, env, close: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}

type ShellHome = Awaited<ReturnType<typeof shellHome>>;

/** A workspace with the completion scripts, the profiles `desk` and `dev`, and a cached `mira`. */
export async function shellHome() {
  const workspace = openWorkspace({ TERM: 'dumb' });
  const { path, env } = workspace;
  const [config, scripts] = [join(path, 'config'), join(path, 'scripts')];
  for (const folder of [config, scripts]) mkdirSync(folder);
  for (const [name, text] of Object.entries(completionScripts))
    writeFileSync(join(scripts, name), text);
  const profiles = { desk: { key: 'xx_test_0123456789' }, dev: {} };
  writeFileSync(
    join(config, 'config.json'),
    JSON.stringify({ version: 1, current: 'desk', profiles }),
  );
  await execa(join(path, 'bin/trdr'), ['whois', 'mira', '--sandbox'], { env, extendEnv: false });
  return { ...workspace, scripts };
}

export async function askBash(line: string, { env, scripts }: ShellHome): Promise<string[]> {
  const words = line
    .split(/\s+/)
    .flatMap((word) => (word === '' ? [''] : word.split(/(?<=[=:@])|(?=[=:@])/)));
  const list = words.map((word) => `'${word}'`).join(' ');
  const script = [
    `source '${join(scripts, 'trdr.bash')}'`,
    `COMP_LINE='${line}' COMP_POINT=\${#COMP_LINE} COMP_WORDS=(${list}) COMP_CWORD=${words.length - 1}`,
    `COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:@'`,
    `set -u; _trdr; printf "%s\\n" \${COMPREPLY[@]+"\${COMPREPLY[@]}"}`,
  ].join('\n');
  const { stdout } = await execa('bash', ['--norc', '-c', script], { env, extendEnv: false });
  return stdout.split('\n').filter((each) => each !== '');
}

export async function askFish(line: string, { env, path, scripts }: ShellHome): Promise<string[]> {
  const script = `source '${join(scripts, 'trdr.fish')}'; complete -C '${line}'`;
  const { stdout, stderr } = await execa('fish', ['--no-config', '-c', script], {
    env,
    cwd: path,
    extendEnv: false,
  });
  if (stderr !== '') throw new Error(stderr);
  return stdout.split('\n').flatMap((each) => each.split('\t')[0] || []);
}

/** The command line of a shell on a terminal after Tab. */
export async function pressTab(
  shell: 'bash' | 'zsh',
  line: string,
  { env, path, scripts }: ShellHome,
): Promise<string> {
  writeFileSync(
    join(path, '.zshrc'),
    `autoload -Uz compinit; compinit -u -d '${join(path, 'zcompdump')}'\nsetopt interactivecomments\nbindkey -e\n`,
  );
  const start = shell === 'bash' ? 'bash --norc -i' : 'zsh -i';
  // The line is turned into a comment before Enter, so nothing runs.
  const typed = [
    `source '${join(scripts, `trdr.${shell}`)}'`,
    `${line}\t\u0001# \u0005 END`,
    'exit',
    '',
  ];
  const { stdout } = await execa('script', ['-qec', start, '/dev/null'], {
    env: { ...env, ZDOTDIR: path, PS1: '> ', TERM: 'xterm' },
    extendEnv: false,
    cwd: path,
    input: typed.join('\n'),
    reject: false,
  });
  return stripVTControlCharacters(stdout);
}
