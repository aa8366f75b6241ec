import type { AnyCommand } from '../command.ts';
import { groups, tree } from '../tree.ts';
import { completionFiles } from './completion/index.ts';
import { commandHelp, groupHelp, rootHelp } from './help.ts';
import { manFiles } from './man.ts';
import { referenceFiles } from './markdown.ts';

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

/** The manual pages by file name. */
export const manTexts = async (): Promise<Record<string, string>> => manFiles(await allCommands());

/** The reference pages by file name. */
export const referenceTexts = async (): Promise<Record<string, string>> =>
  referenceFiles(await allCommands());

/** The completion scripts by file name. */
export const completionTexts = async (): Promise<Record<string, string>> =>
  completionFiles(await allCommands());
