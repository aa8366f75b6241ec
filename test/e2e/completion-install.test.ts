import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { completionScripts } from '../../src/cli/docs/completion/scripts.ts';
import { has } from '../tools.ts';
import { openHome, runInProcess } from './harness.ts';
import type { InProcessOptions } from './in-process.ts';

const inHome = {
  bash: '.local/share/bash-completion/completions/trdr',
  zsh: '.local/share/zsh/site-functions/_trdr',
  fish: '.config/fish/completions/trdr.fish',
};

const install = (words: readonly string[], options: InProcessOptions) =>
  runInProcess(['completion', 'install', ...words], options);

/** What a new shell has for trdr, if nothing but the file is there. */
const asked = {
  bash: (path: string) =>
    `BASH_COMPLETION_USER_DIR='${dirname(dirname(path))}'; source /usr/share/bash-completion/bash_completion; _comp_load trdr 2>/dev/null || __load_completion trdr; complete -p trdr`,
  zsh: (path: string) =>
    // Without the completions of all other commands, which take longest.
    `fpath=('${dirname(path)}' \${^fpath}/compinit(N:h)); autoload -Uz compinit; compinit -u -D; echo $_comps[trdr]`,
  // Fish loads the file only for a command that exists.
  fish: () => "function trdr; end; complete -C 'trdr bud'; functions __trdr_complete",
};

describe('trdr completion install', () => {
  test.each(['bash', 'zsh', 'fish'] as const)('writes and removes a file: %s', async (shell) => {
    const home = openHome();
    const path = home.at(inHome[shell]);
    const options = { home, env: { SHELL: `/usr/bin/${shell}` } };
    for (const words of [[], [shell]]) {
      const { exitCode, stderr } = await install(words, options);
      expect([exitCode, stderr]).toEqual([0, expect.stringContaining(`Wrote ${path}`)]);
      expect(readFileSync(path, 'utf8')).toBe(
        Object.entries(completionScripts).find(([name]) => name === `trdr.${shell}`)?.[1],
      );
    }
    const isThere = shell !== 'bash' || existsSync('/usr/share/bash-completion/bash_completion');
    if (has(shell) && isThere) {
      const env = { PATH: process.env['PATH'] ?? '', HOME: home.path, TERM: 'dumb' };
      const { stdout } = await execa(shell, ['-c', asked[shell](path)], {
        env,
        extendEnv: false,
      });
      expect(stdout).toContain('_trdr');
    }
    const removed = await install(['--uninstall'], options);
    expect([removed.exitCode, existsSync(path)]).toEqual([0, false]);
    expect((await install([shell, '--uninstall'], options)).said).toContain('No completion is');
  });

  test.each(['bash', 'zsh', 'fish'] as const)('leaves a foreign file alone: %s', async (shell) => {
    const home = openHome();
    const path = home.at(inHome[shell]);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '# my own\n');
    for (const words of [[shell], [shell, '--uninstall']]) {
      const ran = await install(words, { home });
      expect([ran.exitCode, ran.said]).toEqual([9, expect.stringContaining('FOREIGN_FILE')]);
      expect(readFileSync(path, 'utf8')).toBe('# my own\n');
    }
  });

  test('obeys the folders of the environment, and says what a shell still needs', async () => {
    const home = openHome();
    const data = home.at('data');
    const env = { XDG_DATA_HOME: data, SHELL: '/bin/zsh' };
    const zsh = join(data, 'zsh/site-functions');
    expect((await install([], { home, env })).said).toContain(`fpath=('${zsh}' $fpath)`);
    const known = { ...env, FPATH: `/usr/share/zsh:${zsh}` };
    expect((await install([], { home, env: known })).said).not.toContain('fpath=');
    expect(existsSync(join(zsh, '_trdr'))).toBe(true);
    const powershell = await install(['powershell'], { home });
    expect(powershell.said).toContain(
      'trdr completion powershell | Out-String | Invoke-Expression',
    );
  });

  test.each([
    [['install'], { SHELL: '/bin/tcsh' }],
    [['install', 'tcsh'], {}],
    [['bash', 'zsh'], {}],
    [['bash', '--uninstall'], {}],
    [[], {}],
  ])('rejects %j with %j', async (words, env) => {
    expect((await runInProcess(['completion', ...words], { env })).exitCode).toBe(2);
  });
});
