import type { AnyCommand } from './command.ts';
import { commandHelp, groupHelp, rootHelp } from './help.ts';
import { groups, tree } from './tree.ts';

/** Every command, loaded: for whatever is made from the whole tree. */
export const allCommands = (): Promise<AnyCommand[]> =>
  Promise.all(Object.values(tree).map((load) => load()));

/** The help texts by file name, so that help needs no parser to be loaded. */
export async function helpFiles(): Promise<Record<string, string>> {
  const commands = await allCommands();
  return {
    'trdr.txt': rootHelp(commands),
    ...Object.fromEntries(groups().map((group) => [`${group}.txt`, groupHelp(group, commands)])),
    ...Object.fromEntries(
      commands.map((command) => [`${command.path.replace(' ', '-')}.txt`, commandHelp(command)]),
    ),
  };
}
