import type { AnyCommand } from '../command.ts';
import type { Definition, DocPage, Section } from './page.ts';
import { topics } from './topics.ts';

const tagline =
  'Look up traders by handle or wallet, compare their numbers, and follow the thesis feed live.';

/** The sections of the overview, in the order in which a new user needs them. */
const sections: readonly { readonly title: string; readonly names: readonly string[] }[] = [
  { title: 'Look up', names: ['whois', 'resolve', 'pnl'] },
  { title: 'Theses', names: ['thesis list', 'thesis tail', 'thesis relay', 'verify'] },
  {
    title: 'Launchpad',
    names: ['launchpad user', 'launchpad callouts', 'launchpad tail', 'launchpad board'],
  },
  { title: 'Costs', names: ['me', 'price', 'usage', 'budget'] },
  { title: 'Setup', names: ['auth', 'config', 'cache', 'store', 'doctor'] },
  { title: 'Scripting', names: ['api', 'schema', 'skill', 'completion', 'sandbox'] },
  { title: 'Help', names: ['help', 'version'] },
];

const groupSummaries: Readonly<Record<string, string>> = {
  thesis: 'List or stream theses',
  launchpad: 'Look up launchpad accounts, callouts and the leaderboard',
  auth: 'Manage keys and profiles',
  config: 'Manage settings',
  cache: 'Manage cached answers',
  budget: 'Limit what a profile may spend',
  store: 'Share one key between machines',
};

export const groupSummary = (group: string): string =>
  groupSummaries[group] ?? `Commands of ${group}`;

const isUnder = (path: string, name: string) => path === name || path.startsWith(`${name} `);

/** The sections of the overview with their commands. Commands that are in no section follow under "More". */
export function commandSections(commands: readonly AnyCommand[]) {
  const isListed = ({ path }: AnyCommand) =>
    sections.some(({ names }) => names.some((name) => isUnder(path, name)));
  const rest = commands.filter((command) => !isListed(command));
  return [...sections, { title: 'More', names: rest.map(({ path }) => path) }]
    .map(({ title, names }) => ({
      title,
      names,
      commands: names.flatMap((name) => commands.filter(({ path }) => isUnder(path, name))),
    }))
    .filter((section) => section.commands.length > 0);
}

export function overviewPage(commands: readonly AnyCommand[]): DocPage {
  const rows = (names: readonly string[]): Definition[] =>
    names.flatMap((name): Definition[] => {
      const single = commands.find(({ path }) => path === name);
      if (single) return [[name, single.summary]];
      const inner = commands.filter(({ path }) => path.startsWith(`${name} `));
      const words = inner.map(({ path }) => path.slice(name.length + 1)).join(', ');
      return inner.length > 0 ? [[name, `${groupSummary(name)}: ${words}`]] : [];
    });
  const lists = commandSections(commands).map(({ title, names }) => ({
    title,
    terms: rows(names),
  }));
  return {
    name: '',
    summary: tagline,
    usage: 'trdr COMMAND [flags]',
    about: [],
    sections: [
      ...evenTerms([
        ...lists,
        { title: 'Topics', terms: topics.map(({ name, summary }) => [`help ${name}`, summary]) },
      ]),
      {
        title: 'Try it without a key or a network',
        code: {
          'trdr whois mira --sandbox': '',
          'trdr thesis tail --count 5 --duration 1m --sandbox': '',
        },
      },
    ],
    footer: 'Run "trdr COMMAND --help" or "trdr help TOPIC" for details.',
  };
}

/** Pads the terms of several sections to the same width, so that their descriptions are aligned. */
function evenTerms(
  lists: readonly { readonly title: string; readonly terms: readonly Definition[] }[],
): Section[] {
  const width = Math.max(...lists.flatMap(({ terms }) => terms.map(([term]) => term.length)));
  return lists.map(({ title, terms }) => ({
    title,
    terms: terms.map(([term, meaning]) => [term.padEnd(width), meaning]),
  }));
}

/** The page of a group: its commands, and the text of the topic with the same name if there is one. */
export function groupPage(group: string, commands: readonly AnyCommand[]): DocPage {
  const inner = commands.filter(({ path }) => path.startsWith(`${group} `));
  const topic = topics.find(({ name }) => name === group);
  return {
    name: group,
    summary: `${groupSummary(group)}.`,
    usage: `trdr ${group} COMMAND [flags]`,
    about: topic?.about ?? [],
    sections: [
      { title: 'Commands', terms: inner.map(({ path, summary }) => [path, summary]) },
      ...(topic?.sections ?? []),
    ],
    footer: `Run "trdr ${group} COMMAND --help" for details.`,
  };
}
