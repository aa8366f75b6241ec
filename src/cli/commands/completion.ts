import { usageError } from '../../base/failure.ts';
import { command } from '../command.ts';
import { completionFiles } from '../docs/completion/file-names.ts';

type Shell = keyof typeof completionFiles;
const shells = Object.keys(completionFiles) as Shell[];
const isShell = (name: string): name is Shell => Object.hasOwn(completionFiles, name);

export const completion = command({
  path: 'completion',
  summary: 'Print the completion script for a shell',
  about: [
    'Completes commands, flags and their values, fields, settings, profiles, API paths and recently found handles. The package contains the same scripts in the folder completions.',
  ],
  args: [{ name: 'shell', help: shells.join(', '), choices: shells }],
  examples: [
    { run: 'source <(trdr completion bash)', does: 'bash: add this line to ~/.bashrc' },
    {
      run: 'autoload -Uz compinit && compinit && source <(trdr completion zsh)',
      does: 'zsh: add this line to ~/.zshrc',
    },
    {
      run: 'trdr completion fish | source',
      does: 'fish: add this line to ~/.config/fish/config.fish',
    },
    {
      run: 'trdr completion powershell | Out-String | Invoke-Expression',
      does: 'PowerShell: add this line to $PROFILE',
    },
  ],
  exits: [0, 2],
  parse([name = '']) {
    if (isShell(name)) return completionFiles[name];
    throw usageError(`no completion for "${name}"`, `choose from ${shells.join(', ')}`);
  },
  async run(context, file) {
    const { completionScripts } = await import('../docs/completion/scripts.ts');
    await context.printText(completionScripts[file] ?? '');
  },
});
