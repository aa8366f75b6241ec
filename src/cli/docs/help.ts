import { endpoints, SOCKET_PATH, SOCKET_PRICE } from '../../contract/endpoints.ts';
import { alwaysOptions, commonGroups } from '../args/common.ts';
import type { Option, Options } from '../args/option.ts';
import type { AnyCommand } from '../command.ts';
import { type ExitCode, exitCodes } from '../exit.ts';
import { sections } from './sections.ts';

/** Help is made before anybody knows the terminal: it fits the one that every terminal can be. */
const WIDTH = 80;

/** Folds a paragraph at the help's width. */
function fold(text: string, indent: string, width = WIDTH): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(indent + line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? lines : [...lines, indent + line];
}

/** Two columns: a term, and what it means, hanging. */
function terms(rows: readonly (readonly [string, string])[], { least = 0, most = 34 } = {}): string[] {
  const width = Math.min(most, Math.max(least, ...rows.map(([term]) => term.length)));
  return rows.flatMap(([term, meaning]) => {
    const indent = ' '.repeat(width + 4);
    const [first = '', ...others] = fold(meaning, indent);
    return term.length > width
      ? [`  ${term}`, first, ...others]
      : [`  ${term.padEnd(width)}  ${first.slice(indent.length)}`, ...others];
  });
}

/** How an option is written in help: `-o, --output <table|ndjson|json|csv>`. */
export const optionTerm = ({ flags, value, repeatable }: Option<unknown>): string =>
  `${flags.startsWith('--') ? `    ${flags}` : flags}${value ? ` <${value.name}>` : ''}${repeatable ? ' ...' : ''}`;

/** What an option is for, with its default. */
export const optionHelp = ({ help, shown }: Option<unknown>) =>
  shown === undefined ? help : `${help} [${shown}]`;
const optionRows = (options: Options) =>
  Object.values(options).map((option) => [optionTerm(option), optionHelp(option)] as const);

/** How the arguments of a command are written: `SUBJECT...`. */
export const argumentTerm = ({ name, optional, variadic }: AnyCommand['args'][number]): string => {
  const term = `${name.toUpperCase()}${variadic ? '...' : ''}`;
  return optional ? `[${term}]` : term;
};

/** The usage line of a command. */
export const usageLine = (command: AnyCommand): string =>
  ['trdr', command.path, ...command.args.map(argumentTerm), '[flags]'].join(' ');

/** What each endpoint of a command costs, a line each. */
export const priceRows = (command: AnyCommand): (readonly [string, string])[] =>
  command.calls.map((id) =>
    id === 'ws'
      ? [`GET ${SOCKET_PATH}`, SOCKET_PRICE]
      : [`${endpoints[id].method} ${endpoints[id].path}`, endpoints[id].price.text],
  );

/** The help of one command. */
export function commandHelp(command: AnyCommand): string {
  const part = (title: string, lines: readonly string[]) =>
    lines.length > 0 ? ['', `${title}:`, ...lines] : [];
  return `${[
    ...fold(`${command.summary}.`, ''),
    '',
    `Usage: ${usageLine(command)}`,
    ...command.about.flatMap((paragraph) => ['', ...fold(paragraph, '')]),
    ...part('Arguments', terms(command.args.map((argument) => [argumentTerm(argument), argument.help]))),
    ...part('Flags', terms(optionRows(command.options))),
    ...command.common.flatMap((group) => part(groupTitles[group], terms(optionRows(commonGroups[group])))),
    ...part('Always', terms(optionRows(alwaysOptions))),
    ...part('Prices', terms(priceRows(command), { most: 52 })),
    ...part('Exit codes', terms(command.exits.map((code: ExitCode) => [String(code), exitCodes[code]]))),
    ...part(
      'Examples',
      command.examples.flatMap(({ run, does }) => [`  # ${does}`, `  ${run}`]),
    ),
  ].join('\n')}\n`;
}

/** What the groups of common flags are called. */
export const groupTitles = { output: 'Output', service: 'Service', money: 'Money' } as const;

/** The sections of the top help with the commands that there are; those that no section names come last. */
export function rootSections(commands: readonly AnyCommand[]) {
  const inSection = (path: string, named: readonly string[]) =>
    named.some((name) => path === name || path.startsWith(`${name} `));
  const all = sections.map(({ title, commands: named }) => ({
    title,
    commands: named.flatMap((name) => commands.filter(({ path }) => inSection(path, [name]))),
  }));
  const rest = commands.filter(({ path }) => !sections.some((each) => inSection(path, each.commands)));
  return [...all, { title: 'More', commands: rest }].filter((each) => each.commands.length > 0);
}

/** What trdr is, in a sentence. */
export const tagline =
  'Look up traders by handle or wallet, compare their numbers, and follow the thesis feed live.';

/** The first screen: what trdr is and every command with a line. */
export function rootHelp(commands: readonly AnyCommand[]): string {
  const byPath = new Map(commands.map((command) => [command.path, command]));
  const rows = (paths: readonly string[]) =>
    paths.flatMap((path) => {
      const found = byPath.get(path);
      if (found) return [[path, found.summary] as const];
      const inner = commands.filter((command) => command.path.startsWith(`${path} `));
      const words = inner.map((command) => command.path.slice(path.length + 1)).join(', ');
      return inner.length > 0 ? [[path, `${groupSummaries[path] ?? ''}: ${words}`] as const] : [];
    });
  const all = sections.map(({ title, commands: paths }) => ({ title, rows: rows(paths) }));
  const least = Math.max(...all.flatMap(({ rows }) => rows.map(([term]) => term.length)));
  const lines = all.flatMap(({ title, rows }) => ['', `${title}:`, ...terms(rows, { least })]);
  return `${[
    ...fold(tagline, ''),
    '',
    'Usage: trdr COMMAND [flags]',
    ...lines,
    '',
    'Try it, with no key and no network:',
    '  trdr whois mira --sandbox',
    '  trdr thesis tail --count 5 --duration 1m --sandbox',
    '',
    'Run "trdr COMMAND --help" for details.',
  ].join('\n')}\n`;
}

/** One line for each group of commands. */
export const groupSummaries: Readonly<Record<string, string>> = {
  thesis: 'List or stream theses',
  launchpad: 'Look up launchpad accounts, callouts and the leaderboard',
  auth: 'Manage keys and profiles',
  config: 'Manage settings',
  cache: 'Manage cached answers',
};

/** The help of a group: its commands. */
export function groupHelp(group: string, commands: readonly AnyCommand[]): string {
  const inner = commands.filter((command) => command.path.startsWith(`${group} `));
  return `${[
    `${groupSummaries[group] ?? group}.`,
    '',
    `Usage: trdr ${group} COMMAND [flags]`,
    '',
    'Commands:',
    ...terms(inner.map((command) => [command.path, command.summary])),
    '',
    `Run "trdr ${group} COMMAND --help" for details.`,
  ].join('\n')}\n`;
}
