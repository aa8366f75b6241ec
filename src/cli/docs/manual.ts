import { outlineOf } from './completion/outline.ts';
import { completionScripts } from './completion/scripts.ts';
import { allCommands, allPages } from './help.ts';
import { manFiles } from './man.ts';
import { referenceFiles } from './markdown.ts';
import { pageFile } from './page.ts';
import { exitTable, neverList, skillText } from './skill.ts';

/**
 * The texts that the build and `npm run generate` write, most of them by file name. `help` and `outline`, which completion
 * uses, are JSON: with them, trdr prints help and completes lines without loading the commands.
 */
export async function preparedTexts() {
  const [commands, pages] = await Promise.all([allCommands(), allPages()]);
  return {
    help: Object.fromEntries(pages.map((page) => [`${pageFile(page.name)}.json`, JSON.stringify(page)])),
    man: manFiles(commands),
    reference: referenceFiles(commands),
    completions: completionScripts,
    outline: JSON.stringify(outlineOf(commands)),
    skill: skillText(commands),
    exitTable: exitTable(),
    neverList: neverList(),
  };
}
