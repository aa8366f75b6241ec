import { endpoints, SOCKET_PATH, SOCKET_PRICE } from '../../contract/endpoints.ts';
import { alwaysOptions, commonGroups, commonOptions } from '../args/common.ts';
import { flagGroups, notReplaced, type Option, type Options } from '../args/option.ts';
import type { AnyCommand, Argument, Examples } from '../command.ts';
import { exitCodes } from '../exit.ts';

export type Definition = readonly [term: string, meaning: string];

export interface Section {
  readonly title: string;
  readonly text?: readonly string[];
  readonly terms?: readonly Definition[];
  readonly code?: Examples;
}

/** A help page as data, from which the pages for terminal, man and Markdown are generated. */
export interface DocPage {
  /** The words after `trdr help`; empty for the overview page. */
  readonly name: string;
  readonly summary: string;
  readonly usage?: string;
  readonly about: readonly string[];
  readonly sections: readonly Section[];
  readonly footer?: string;
}

/** The page of a command: its own sections, then prices and exit codes, then the common flags. */
export function commandPage(command: AnyCommand): DocPage {
  const isGrouped = Object.keys(command.options).length > UNGROUPED;
  const common = (title: string, options: Options) =>
    flagSection(
      title,
      Object.values(notReplaced(options, command.options)).filter(
        ({ group }) => !isGrouped || !group,
      ),
    );
  const all: Section[] = [
    {
      title: 'Arguments',
      terms: command.args.map((argument) => [argumentTerm(argument), argument.help] as const),
    },
    ...(isGrouped ? groupedFlags(command) : [flagSection('Flags', Object.values(command.options))]),
    { title: 'Examples', code: command.examples },
    { title: 'Prices', terms: priceTerms(command) },
    {
      title: 'Exit codes',
      terms: command.exits.map((code) => [String(code), exitCodes[code]] as const),
    },
    ...command.common.map((group) => common(groupTitles[group], commonGroups[group])),
    common('Global flags', alwaysOptions),
  ];
  return {
    name: command.path,
    summary: `${command.summary}.`,
    usage: usageLine(command),
    about: command.about,
    sections: all.filter(
      ({ terms = [], code = {} }) => terms.length + Object.keys(code).length > 0,
    ),
  };
}

/** A command with more flags of its own lists them in groups. @internal Exported for tests. */
const UNGROUPED = 15;

/** The flags of a command, and the common flags that belong to them, by what a user decides. */
function groupedFlags({ options, common }: AnyCommand): Section[] {
  const all = Object.values({ ...notReplaced(commonOptions(common), options), ...options });
  return flagGroups.map((title) =>
    flagSection(
      title,
      all.filter(({ group }) => group === title),
    ),
  );
}

const groupTitles = {
  output: 'Output flags',
  service: 'Service flags',
  money: 'Cost flags',
} as const;

const flagSection = (title: string, options: readonly Option<unknown>[]): Section => ({
  title,
  terms: options.map((option) => [optionTerm(option), optionHelp(option)] as const),
});

/** How help shows a flag: `-o, --output table|ndjson|json|csv`, `--out FILE`. */
const optionTerm = ({ flags, value }: Option<unknown>): string =>
  value ? `${flags} ${value.choices ? value.name : value.name.toUpperCase()}` : flags;

const optionHelp = ({ help, shown, repeatable, value }: Option<unknown>) =>
  [
    help,
    repeatable && (value?.choices ? '(repeatable, or comma-separated)' : '(repeatable)'),
    shown !== undefined && `[${shown}]`,
  ]
    .filter(Boolean)
    .join(' ');

function argumentTerm({ name, optional, variadic }: Argument): string {
  const term = `${name.toUpperCase()}${variadic ? '...' : ''}`;
  return optional ? `[${term}]` : term;
}

export const usageLine = (command: AnyCommand): string =>
  ['trdr', command.path, ...command.args.map(argumentTerm), '[flags]'].join(' ');

const priceTerms = (command: AnyCommand): Definition[] =>
  command.calls.map((id) =>
    id === 'ws'
      ? [`GET ${SOCKET_PATH}`, SOCKET_PRICE]
      : [`${endpoints[id].method} ${endpoints[id].path}`, endpoints[id].price.text],
  );

export const pageFile = (name: string): string => name.replaceAll(' ', '-') || 'trdr';
