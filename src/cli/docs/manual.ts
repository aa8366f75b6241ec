import { outlineOf } from './completion/outline.ts';
import { completionScripts } from './completion/scripts.ts';
import { allCommands, allPages } from './help.ts';
import { manFiles } from './man.ts';
import { referenceFiles } from './markdown.ts';
import { pageFile } from './page.ts';
import { skillText } from './skill.ts';

export { exitTable, neverList } from './skill.ts';

/** The help pages as JSON by file name. With these files, trdr prints help without loading the commands. */
export const helpFiles = async (): Promise<Record<string, string>> =>
  Object.fromEntries((await allPages()).map((page) => [`${pageFile(page.name)}.json`, JSON.stringify(page)]));

export const manTexts = async (): Promise<Record<string, string>> => manFiles(await allCommands());

export const preparedSkill = async (): Promise<string> => skillText(await allCommands());

export const referenceTexts = async (): Promise<Record<string, string>> =>
  referenceFiles(await allCommands());

export const completionTexts = (): Readonly<Record<string, string>> => completionScripts;

/** The part of the command descriptions that completion uses, as JSON. */
export const outlineText = async (): Promise<string> => JSON.stringify(outlineOf(await allCommands()));
