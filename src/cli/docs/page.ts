import { endpoints, SOCKET_PATH, SOCKET_PRICE } from '../../contract/endpoints.ts';
import { commonOptions } from '../args/common.ts';
import { notReplaced } from '../args/option.ts';
import type { AnyCommand } from '../command.ts';
import { exitCodes } from '../exit.ts';
import type { Program } from '../program/program.ts';
import { type CommandProse, commandProse } from './command-prose.ts';
import type { Definition, Section } from './prose.ts';

/**
 * A page of the documentation as data, from which the pages for terminal, man and Markdown are
 * generated.
 */
export interface DocPage {
  /** The words after `trdr help`; empty for the overview page. */
  readonly name: string;
  readonly summary: string;
  readonly usage?: string;
  readonly about: readonly string[];
  readonly sections: readonly Section[];
}

/** A command whose file is loaded, so that commander knows its flags and arguments. */
export type Leaf = Program & { readonly spec: AnyCommand };

export const isLeaf = (program: Program): program is Leaf => program.spec !== undefined;

/** The page of a command for man and Markdown, in the words of its help. */
export function commandPage(leaf: Leaf): DocPage {
  const help = leaf.createHelp();
  const prose = commandProse(leaf.spec);
  const groups = help.groupItems(
    help.visibleOptions(leaf),
    help.visibleOptions(leaf),
    ({ helpGroupHeading = 'Flags:' }) => helpGroupHeading,
  );
  const flags = [...groups].map(
    ([title, options]): Section => ({
      title: title.replace(/:$/, ''),
      isFlagGroup: true,
      terms: options.map((option) => [help.optionTerm(option), help.optionDescription(option)]),
    }),
  );
  const words: Section = {
    title: 'Arguments',
    terms: help
      .visibleArguments(leaf)
      .map((word) => [help.argumentTerm(word), help.argumentDescription(word)]),
  };
  return {
    name: leaf.spec.path,
    summary: `${prose.summary}.`,
    usage: help.commandUsage(leaf),
    about: prose.about,
    sections: [words, ...flags].filter(isFilled).concat(sectionsOf(leaf.spec, prose)),
  };
}

/** What a page says after the arguments and flags, which commander knows. */
export function sectionsOf(
  spec: AnyCommand,
  { examples, details }: Pick<CommandProse, 'examples' | 'details'>,
): Section[] {
  const sections: Section[] = [
    { title: 'Examples', code: examples },
    ...details,
    { title: 'Prices', terms: priceTerms(spec) },
    { title: 'Exit codes', terms: spec.exits.map((code) => [String(code), exitCodes[code]]) },
    { title: 'Common flags', text: [commonText(spec)] },
  ];
  return sections.filter(isFilled);
}

const isFilled = ({ text = [], terms = [], code = {} }: Section): boolean =>
  text.length + terms.length + Object.keys(code).length > 0;

/** The common flags by name only, because a page of their own describes them once. */
function commonText({ common, options }: AnyCommand): string {
  const { help, ...flags } = notReplaced(commonOptions(common), options);
  const names = Object.values(flags).map(({ long }) => long);
  return `${names.join(', ')}: see "trdr help flags".`;
}

const priceTerms = (spec: AnyCommand): Definition[] =>
  spec.calls.map((id) =>
    id === 'ws'
      ? [`GET ${SOCKET_PATH}`, SOCKET_PRICE]
      : [`${endpoints[id].method} ${endpoints[id].path}`, endpoints[id].price.text],
  );

export const pageFile = (name: string): string => name.replaceAll(' ', '-') || 'trdr';
