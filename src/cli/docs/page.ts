import { alwaysOptions, commonGroups } from '../args/common.ts';
import type { Options } from '../args/option.ts';
import type { AnyCommand } from '../command.ts';
import { exitCodes } from '../exit.ts';
import { argumentTerm, groupTitles, optionHelp, optionTerm, priceRows, usageLine } from './help.ts';

/** A term and what it means. */
export type Term = readonly [term: string, meaning: string];

/** What a page about a command holds, whatever it is written in. */
export interface DocPage {
  readonly path: string;
  readonly summary: string;
  readonly usage: string;
  readonly about: readonly string[];
  readonly args: readonly Term[];
  readonly flags: readonly { readonly title: string; readonly rows: readonly Term[] }[];
  readonly prices: readonly Term[];
  readonly exits: readonly Term[];
  readonly examples: AnyCommand['examples'];
}

/** A command as a page. */
export function docPage(command: AnyCommand): DocPage {
  const common = command.common.map((group) => ({
    title: groupTitles[group],
    rows: rowsOf(commonGroups[group]),
  }));
  return {
    path: command.path,
    summary: command.summary,
    usage: usageLine(command),
    about: command.about,
    args: command.args.map((argument) => [argumentTerm(argument), argument.help]),
    flags: [
      { title: 'Flags', rows: rowsOf(command.options) },
      ...common,
      { title: 'Always', rows: rowsOf(alwaysOptions) },
    ].filter(({ rows }) => rows.length > 0),
    prices: priceRows(command),
    exits: command.exits.map((code) => [String(code), exitCodes[code]]),
    examples: command.examples,
  };
}

const rowsOf = (options: Options): Term[] =>
  Object.values(options).map((option) => [optionTerm(option).trim(), optionHelp(option)]);

/** A command's name as one word: `thesis-list`. */
export const pageName = (path: string): string => path.replaceAll(' ', '-');
