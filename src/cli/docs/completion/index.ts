import type { AnyCommand } from '../../command.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { outlineOf } from './outline.ts';
import { powershellScript } from './powershell.ts';
import { zshScript } from './zsh.ts';

/** The completion scripts by file name. */
export function completionFiles(commands: readonly AnyCommand[]): Record<string, string> {
  const outline = outlineOf(commands);
  return {
    'trdr.bash': bashScript(outline),
    'trdr.zsh': zshScript(outline),
    'trdr.fish': fishScript(outline),
    'trdr.ps1': powershellScript(outline),
  };
}
