import { usageError } from '../../base/failure.ts';
import { command } from '../command.ts';

const files = { bash: 'trdr.bash', zsh: 'trdr.zsh', fish: 'trdr.fish', powershell: 'trdr.ps1' } as const;
type Shell = keyof typeof files;
const shells = Object.keys(files) as Shell[];
const isShell = (name: string): name is Shell => Object.hasOwn(files, name);

export const completion = command({
  path: 'completion',
  summary: 'The completion script of a shell',
  about: [
    'Completes commands, flags, the values of flags, profile names, and the handles that were found lately. The same scripts are kept in completions/ of the package.',
  ],
  args: [{ name: 'shell', help: shells.join(', '), choices: shells }],
  options: {},
  common: [],
  examples: [
    { run: 'source <(trdr completion bash)', does: 'bash, from ~/.bashrc' },
    { run: 'trdr completion zsh > "$fpath[1]/_trdr"', does: 'zsh' },
    { run: 'trdr completion fish > ~/.config/fish/completions/trdr.fish', does: 'fish' },
    {
      run: 'trdr completion powershell | Out-String | Invoke-Expression',
      does: 'PowerShell, from $PROFILE',
    },
  ],
  calls: [],
  exits: [0, 2],
  parse([name = '']) {
    if (isShell(name)) return files[name];
    throw usageError(`there is no completion for "${name}"`, `there is one for ${shells.join(', ')}`);
  },
  async run(context, file) {
    const { completionTexts } = await import('../docs/manual.ts');
    const sink = await context.output();
    await sink.write((await completionTexts())[file] ?? '');
    await sink.end();
    return 0;
  },
});
