import type { AnyCommand } from './command.ts';

type Load = () => Promise<AnyCommand>;

/** A file that exports commands, and nothing else. */
type CommandFile = () => Promise<Readonly<Record<string, AnyCommand>>>;

const budget = () => import('./commands/budget.ts');
const auth = () => import('./commands/auth.ts');
const config = () => import('./commands/config.ts');
const cache = () => import('./commands/cache.ts');
const store = () => import('./commands/store.ts');
const about = () => import('./commands/about.ts');

/** The file of each command. */
const files: Readonly<Record<string, CommandFile>> = {
  whois: () => import('./commands/whois.ts'),
  resolve: () => import('./commands/resolve.ts'),
  author: () => import('./commands/author.ts'),
  token: () => import('./commands/token.ts'),
  pnl: () => import('./commands/pnl.ts'),
  'thesis list': () => import('./commands/thesis-list.ts'),
  'thesis tail': () => import('./commands/thesis-tail.ts'),
  'thesis relay': () => import('./commands/thesis-relay.ts'),
  'thesis refresh': () => import('./commands/thesis-refresh.ts'),
  verify: () => import('./commands/verify.ts'),
  'launchpad user': () => import('./commands/launchpad-user.ts'),
  'launchpad callouts': () => import('./commands/launchpad-callouts.ts'),
  'launchpad tail': () => import('./commands/launchpad-tail.ts'),
  'launchpad callers': () => import('./commands/launchpad-callers.ts'),
  'launchpad board': () => import('./commands/launchpad-board.ts'),
  'launchpad history': () => import('./commands/launchpad-history.ts'),
  tails: () => import('./commands/tails.ts'),
  me: () => import('./commands/me.ts'),
  price: () => import('./commands/price.ts'),
  usage: () => import('./commands/usage.ts'),
  'budget set': budget,
  'budget unset': budget,
  'budget show': budget,
  'auth login': auth,
  'auth status': auth,
  'auth switch': auth,
  'auth logout': auth,
  'config list': config,
  'config get': config,
  'config set': config,
  'config unset': config,
  'config path': config,
  'cache stats': cache,
  'cache clear': cache,
  'store login': store,
  'store check': store,
  'store status': store,
  'store clear': store,
  doctor: () => import('./commands/doctor.ts'),
  api: () => import('./commands/api.ts'),
  schema: about,
  skill: about,
  completion: about,
  sandbox: () => import('./commands/sandbox.ts'),
  help: about,
  version: about,
};

/**
 * All commands by the words that run them, in the order of the overview. A command is loaded only
 * when it runs. The table has no prototype, because words such as `constructor` would otherwise
 * name commands.
 */
export const tree: Readonly<Record<string, Load>> = Object.assign(
  Object.create(null),
  Object.fromEntries(Object.entries(files).map(([path, file]) => [path, () => load(path, file)])),
);

async function load(path: string, file: CommandFile): Promise<AnyCommand> {
  const command = Object.values(await file()).find((each) => each.path === path);
  if (command === undefined) throw new Error(`no command "${path}" in its file`);
  return command;
}

/** All commands, as users write them. */
export const commandPaths: readonly string[] = Object.keys(tree);

/** The words that can follow `words` in a line, such as `list` after `thesis`. */
export function wordsAfter(words: readonly string[]): readonly string[] {
  const next = commandPaths
    .map((path) => path.split(' '))
    .filter((path) => words.every((word, at) => path[at] === word))
    .flatMap((path) => path[words.length] ?? []);
  return [...new Set(next)];
}

/** The first words of commands with subcommands, such as `thesis`. */
export const groups = (): string[] => [
  ...new Set(
    commandPaths.filter((path) => path.includes(' ')).map((path) => path.split(' ')[0] ?? ''),
  ),
];

/** The sections of the overview, in the order in which a new user needs them. */
export const sections: Readonly<Record<string, readonly string[]>> = {
  'Look up': ['whois', 'resolve', 'author', 'token', 'pnl'],
  Theses: ['thesis', 'verify', 'tails'],
  Launchpad: ['launchpad'],
  Costs: ['me', 'price', 'usage', 'budget'],
  Setup: ['auth', 'config', 'cache', 'store', 'doctor'],
  Scripting: ['api', 'schema', 'skill', 'completion', 'sandbox'],
  Help: ['help', 'version'],
};

export const sectionOf = (name: string): string =>
  Object.keys(sections).find((title) => sections[title]?.includes(name)) ?? 'More';

export const groupSummaries: Readonly<Record<string, string>> = {
  thesis: 'List or stream theses',
  launchpad: 'Look up launchpad accounts, callouts and the leaderboard',
  auth: 'Manage keys and profiles',
  config: 'Manage settings',
  cache: 'Manage cached answers',
  budget: 'Limit what a profile may spend',
  store: 'Share one key between machines',
};
