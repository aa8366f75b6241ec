import { outlineOf } from './completion/outline.ts';
import { completionScripts } from './completion/scripts.ts';
import { allCommands, allPages } from './help.ts';
import { manFiles } from './man.ts';
import { referenceFiles } from './markdown.ts';
import { pageFile } from './page.ts';
import { exitTable, neverList, skillText } from './skill.ts';

/** What the build and `npm run generate` write. With the JSON of `help` and `outline`, trdr need not load the commands. */
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
